// Nodes that only pretend: pods bound to them become ready and end as the scenario says. Does what
// kwok does with the stages that tests/scenarios makes of the same rules, so that end states can be
// compared between engines.
//
// Pods with a barrier (docs/barrier.md) wait for its key first, as a node agent lets them, and give
// up when their time is over.
#pragma once

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
  FakeNodes(client::Client& client, const api::Registry& registry, int count,
            const std::vector<PodRule>& rules);
  ~FakeNodes() { *alive_ = false; }
  FakeNodes(const FakeNodes&) = delete;

  void start();                        // registers the nodes, then takes their pods
  void lose(const std::string& node);  // it is gone, and its pods with it

 private:
  static constexpr Duration kStart = std::chrono::seconds(1);     // from bound to ready
  static constexpr Duration kStop = std::chrono::seconds(1);      // from deletion to gone
  static constexpr Duration kBackoff = std::chrono::seconds(10);  // before a container runs again

  void changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  void after(Duration delay, const std::string& uid, Task task);
  const PodRule& rule_for(const api::Meta& meta) const;
  void start_containers(const std::string& ns, const std::string& name, const std::string& uid);
  void wait_at_barrier(const std::string& ns, const std::string& name, const std::string& uid);
  void open_barriers();
  bool is_open(const std::string& ns, const std::string& barrier) const;
  void give_up(const std::string& ns, const std::string& name, const std::string& uid);
  void begin(const std::string& ns, const std::string& name, const std::string& uid);
  void end(const std::string& ns, const std::string& name, const std::string& uid,
           const PodRule& rule);
  void remove(const std::string& ns, const std::string& name, const std::string& uid);
  void patch_status(const std::string& ns, const std::string& name, const std::string& uid,
                    std::string status);
  std::string containers_json(const std::string& ns, const std::string& name,
                              std::string_view state, bool ready) const;
  std::string barrier_json(const std::string& uid, std::string_view state) const;

  client::Client& client_;
  const api::Resource& pods_kind_;
  const api::Resource& nodes_kind_;
  int count_;
  const std::vector<PodRule>& rules_;
  client::Informer pods_;
  client::Informer config_maps_;
  struct Life {
    bool stopping = false;
    std::string node;
    std::string ns = {}, name = {};
    std::string barrier = {};  // <ConfigMap>/<key>; empty if there is none
    bool waits = false;        // at the barrier
    int restarts = 0;          // of the container that waits
  };
  std::map<std::string, Life> lives_;  // by the pod's uid
  std::uint64_t addresses_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::sim
