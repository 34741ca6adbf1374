// What the pod machine reads of a pod's object. Read once per version; what is absent has its
// default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace muster::agent {

enum class RestartPolicy : std::uint8_t { kAlways, kOnFailure, kNever };
enum class Role : std::uint8_t { kInit, kSidecar, kMain };

// One of container.restartPolicyRules.
struct RestartRule {
  bool in = true;  // operator In; else NotIn
  std::vector<std::int64_t> codes;
  bool all_containers = false;  // action RestartAllContainers; else Restart
};

struct ContainerView {
  std::string name;
  std::string image;
  Role role = Role::kMain;
  bool barrier = false;  // see Barrier
  std::optional<RestartPolicy> policy;
  std::vector<RestartRule> rules;
  bool has_startup_probe = false;
  bool has_readiness_probe = false;
  bool has_post_start = false;
  bool has_pre_stop = false;
  std::optional<std::int64_t> startup_grace;   // seconds, of the probe itself
  std::optional<std::int64_t> liveness_grace;  // likewise
};

// KEP-498 without a program that waits: the init container `group-scheduling-init` of a pod with
// the annotation muster.dev/barrier is only played by the agent, and the main containers are held
// ready meanwhile.
struct Barrier {
  std::string config_map;  // in the pod's namespace
  std::string key;         // when it is there, the barrier is open
  std::optional<std::int64_t> timeout_seconds;
  std::int64_t size = 0;    // pods that meet here; 0: unknown
  std::string coordinator;  // a name that must be known before it opens; may be empty
};

struct PodView {
  std::string ns;
  std::string name;
  std::string uid;
  std::string hostname;  // as its processes see it (pod-lifecycle 4.4)
  std::string host;      // <hostname>.<subdomain>, if it has both
  std::int64_t generation = 0;
  RestartPolicy policy = RestartPolicy::kAlways;
  std::vector<ContainerView> containers;  // init containers and sidecars, then main; as in the spec
  std::int64_t grace = 30;                // seconds
  std::optional<std::int64_t> active_deadline;
  bool deleted = false;
  std::optional<std::int64_t> deletion_grace;
  std::vector<std::string> readiness_gates;
  std::optional<Barrier> barrier;

  std::optional<std::size_t> find(std::string_view container) const;
  bool has_init() const { return !containers.empty() && containers[0].role != Role::kMain; }
};

PodView read_pod_view(json::Value pod);

// The container's part of the spec; null if there is none of that name.
json::Value container_spec(json::Value pod, std::string_view container);
// The same by its place in PodView::containers, without a search: for loops over all of them.
json::Value container_spec(json::Value pod, std::size_t place);

}  // namespace muster::agent
