// What the node controller reads of nodes, their leases and their pods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/values/toleration.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::controllers::nodes {

struct Taint {
  api::Taint taint;
  std::optional<Time> added;

  bool operator==(const Taint&) const = default;
};

struct Node {
  ObjectRef ref;
  bool unschedulable = false;
  std::vector<Taint> taints;
  api::Conditions conditions;
  std::string heartbeat;  // of the condition Ready, as written

  const api::Condition* ready() const { return api::find_condition(conditions, "Ready"); }
  bool is_ready() const { return api::is_condition_true(conditions, "Ready"); }
  // It has said, or was said, not to be ready. A node that has never reported is neither.
  bool is_unready() const { return ready() != nullptr && !is_ready(); }
};

struct Lease {
  std::string renewed;  // spec.renewTime, as written
  Duration duration = Duration::zero();
};

struct Pod {
  ObjectRef ref;
  std::int64_t generation = 0;
  std::string node;
  Time created;
  bool deleting = false;
  bool ended = false;
  std::vector<api::Toleration> tolerations;
  std::optional<Time> ready_since;  // absent: it is not ready
};

Node read_node(json::Value object);
Lease read_lease(json::Value object);
Pod read_pod(const store::Object& pod, json::Value content);

}  // namespace muster::controllers::nodes
