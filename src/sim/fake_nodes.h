// Plays the nodes of the cluster: pods bound to them become ready and end as the scenario says.
// Does what kwok does with the stages that tests/scenarios makes of the same rules, so that end
// states can be compared between engines.
//
// Pods with a barrier (docs/barrier.md) wait for its key first, as a node agent lets them, and give
// up when their time is over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/informer.h"
#include "sim/scenario.h"

namespace muster::sim {

class FakeNodes {
 public:
  // `rules` outlives it.
  FakeNodes(client::Client& client, const api::Registry& registry,
            const std::vector<PodRule>& rules);
  ~FakeNodes() { *alive_ = false; }
  FakeNodes(const FakeNodes&) = delete;

  void start();                        // takes the pods of whatever nodes there are
  void lose(const std::string& node);  // it is gone, and its pods with it

 private:
  static constexpr Duration kStart = std::chrono::seconds(1);     // from bound to ready
  static constexpr Duration kStop = std::chrono::seconds(1);      // from deletion to gone
  static constexpr Duration kBackoff = std::chrono::seconds(10);  // before a container runs again

  // One pod, from when it was bound until it is gone or its node is.
  struct Life {
    std::string uid, ns, name;
    std::string node;
    std::string barrier;    // <ConfigMap>/<key>; empty if there is none
    bool waits = false;     // at the barrier
    int restarts = 0;       // of the container that waits
    bool stopping = false;  // the end of its time of grace is under way
  };

  void changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  // If it still lives by then.
  void after(Duration delay, const Life& life, std::move_only_function<void(Life&)> act);
  const PodRule& rule_for(const api::Meta& meta) const;
  void start_containers(Life& life);
  void wait_at_barrier(Life& life);
  void open_barriers();
  bool is_open(const Life& life) const;
  void give_up(Life& life);
  void begin(Life& life);
  void end(const Life& life, const PodRule& rule);
  void remove(const Life& life);
  void patch_status(const Life& life, std::string_view status);
  std::string containers_json(const Life& life, std::string_view state, bool ready) const;
  client::ObjectPtr pod_of(const Life& life) const { return pods_.find(life.ns, life.name); }
  std::string now() const { return format_time(client_.loop().clock().now()); }

  client::Client& client_;
  const api::Resource& pods_kind_;
  const api::Resource& nodes_kind_;
  const std::vector<PodRule>& rules_;
  const PodRule succeed_soon_{};  // of pods that no rule is about
  client::Informer pods_;
  client::Informer config_maps_;
  std::map<std::string, Life> lives_;  // by the pod's uid
  std::uint64_t addresses_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::sim
