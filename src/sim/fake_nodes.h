// Nodes that only pretend: pods bound to them become ready and end as the scenario says. Does what
// kwok does with the stages that tests/scenarios makes of the same rules, so that end states can be
// compared between engines.
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
  static constexpr Duration kStart = std::chrono::seconds(1);  // from bound to ready
  static constexpr Duration kStop = std::chrono::seconds(1);   // from deletion to gone

  void changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  void after(Duration delay, const std::string& uid, Task task);
  const PodRule& rule_for(const api::Meta& meta) const;
  void begin(const std::string& ns, const std::string& name, const std::string& uid);
  void end(const std::string& ns, const std::string& name, const std::string& uid,
           const PodRule& rule);
  void remove(const std::string& ns, const std::string& name, const std::string& uid);
  void patch_status(const std::string& ns, const std::string& name, const std::string& uid,
                    std::string status);
  std::string containers_json(const std::string& ns, const std::string& name,
                              std::string_view state, bool ready) const;

  client::Client& client_;
  const api::Resource& pods_kind_;
  const api::Resource& nodes_kind_;
  int count_;
  const std::vector<PodRule>& rules_;
  client::Informer pods_;
  struct Life {
    bool stopping = false;
    std::string node;
  };
  std::map<std::string, Life> lives_;  // by the pod's uid
  std::uint64_t addresses_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::sim
