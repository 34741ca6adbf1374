#include "controllers/jobset/barrier_gate.h"

#include <fmt/format.h>

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

// What earlier attempts left goes with the same write.
Write write_of(const Kinds& kinds, const Signal& signal, std::int32_t attempt, std::string_view key,
               std::string_view text) {
  Arena arena;
  const Value change = Value::object(arena, 2);
  const Value data = change.object_at("data");
  for (const auto& [old_key, old_text] : signal.data) {
    if (old_key != coordinator_key(attempt)) data.set(old_key, Value());
  }
  data.set(key, text);
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
    Write open = write_of(kinds, signal, attempt, started_key(attempt), text);
    open.when_done = Event{.regarding = ref_of(set),
                           .reason = std::string(kBarrierOpened),
                           .message = fmt::format("barrier: {} started", text)};
    plan.then(std::move(open));
    plan.reason = "all pods of the group have started";
    return plan;
  }
  const std::string count = std::to_string(started), key = progress_key(attempt);
  const auto told = signal.data.find(key);
  if (!set.group_scheduling->timeout_after_seconds ||
      (told != signal.data.end() && told->second == count))
    return plan;
  plan.then(write_of(kinds, signal, attempt, key, count));
  plan.reason = "pods that give up say how many had started";
  return plan;
}

}  // namespace muster::controllers::jobset
