#include "controllers/jobset/barrier_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "controllers/jobset/status_draft.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

bool waits(const GateView& view) {
  const api::JobSet& set = view.set;
  return has_barrier(set, view.gates) && !set.suspend && !set.meta.deletion_time &&
         !api::is_condition_true(set.status.conditions, "Completed") &&
         !api::is_condition_true(set.status.conditions, "Failed") && view.signal != nullptr &&
         view.signal->owner_uid == set.meta.uid;
}

using Entries = std::map<std::string, std::string>;  // of the ConfigMap's data

// What earlier attempts left goes with the same write.
Write write_of(const Kinds& kinds, const Signal& signal, std::int32_t attempt,
               const Entries& entries) {
  Arena arena;
  const Value change = Value::object(arena, 2);
  const Value data = change.object_at("data");
  for (const auto& [old_key, old_text] : signal.data) {
    if (old_key != coordinator_key(attempt)) data.set(old_key, Value());
  }
  for (const auto& [key, text] : entries) data.set(key, text);
  ObjectRef target = signal.ref;
  target.resource_version.clear();  // whatever else has changed: what is said is true
  return {.operation = patch(*kinds.config_map, target, change)};
}

}  // namespace

Plan plan_gate(const Kinds& kinds, const GateView& view) {
  Plan plan;
  if (!waits(view)) return plan;
  const api::JobSet& set = view.set;
  const Signal& signal = *view.signal;
  const std::int32_t attempt = barrier_attempt(set, &signal, view.children);
  if (signal.is_open(attempt)) return plan;
  const std::int64_t size = barrier_size(set);
  const std::int64_t started = started_pods(set, attempt, view.children, view.starts);
  if (started == 0) return plan;
  if (started >= size) {
    const std::string text = fmt::format("{} of {}", started, size);
    Write open = write_of(kinds, signal, attempt, {{started_key(attempt), text}});
    open.when_done = Event{.regarding = ref_of(set),
                           .reason = std::string(kBarrierOpened),
                           .message = fmt::format("barrier: {} started", text)};
    plan.then(std::move(open));
    plan.reason = "all pods of the group have started";
    return plan;
  }
  if (!set.group_scheduling->timeout_after_seconds) return plan;
  const Entries count = {
      {progress_key(attempt), std::to_string(started)},
      {missing_key(attempt), missing_pods(set, attempt, view.children, view.starts)}};
  if (std::ranges::all_of(count, [&](const auto& entry) {
        const auto told = signal.data.find(entry.first);
        return told != signal.data.end() && told->second == entry.second;
      }))
    return plan;
  plan.then(write_of(kinds, signal, attempt, count));
  plan.reason = "pods that give up report which pods were missing";
  return plan;
}

}  // namespace muster::controllers::jobset
