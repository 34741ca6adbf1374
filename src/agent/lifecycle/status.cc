#include "agent/lifecycle/status.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "agent/lifecycle/conditions.h"
#include "agent/lifecycle/container_status.h"
#include "agent/lifecycle/phase.h"
#include "api/views/conditions.h"
#include "base/utf8.h"

namespace muster::agent {
namespace {

using json::Value;

// All messages of a pod's containers together.
constexpr std::size_t kMaxMessages = 12'288;

struct Outcome {
  Phase phase = Phase::kPending;
  std::string reason;
  std::string message;
};

std::optional<Phase> parse_phase(std::string_view text) {
  for (const Phase phase : {Phase::kPending, Phase::kRunning, Phase::kSucceeded, Phase::kFailed}) {
    if (phase_text(phase) == text) return phase;
  }
  return std::nullopt;
}

Outcome computed(const PodView& view, const PodMemory& memory,
                 const std::vector<ContainerStatus>& statuses) {
  Outcome out;
  out.phase = phase_of(view, {.statuses = statuses,
                              .finished = memory.stage != Stage::kSync,
                              .initialized = is_initialized(view, memory)});
  // At the very end there is no more waiting.
  if (memory.stage == Stage::kTerminated && !is_terminal(out.phase)) out.phase = Phase::kFailed;
  if (memory.failed)
    out = {.phase = Phase::kFailed,
           .reason = memory.failed->reason,
           .message = memory.failed->message};
  return out;
}

// A phase that is over stays over, and none is over while a process can still run: Jobs rely on it.
Outcome clamped(Outcome fresh, const PodMemory& memory, Value before) {
  const Outcome old = {
      .phase = parse_phase(before.get("phase").as_string()).value_or(Phase::kPending),
      .reason = std::string(before.get("reason").as_string()),
      .message = std::string(before.get("message").as_string())};
  if (is_terminal(old.phase)) return old;
  if (is_terminal(fresh.phase) && memory.any_alive()) return old;
  if (fresh.phase == old.phase && !memory.failed) {
    fresh.reason = old.reason;
    fresh.message = old.message;
  }
  return fresh;
}

void cut_messages(std::vector<ContainerStatus>& statuses) {
  const std::size_t limit = kMaxMessages / std::max<std::size_t>(1, statuses.size());
  for (ContainerStatus& status : statuses) {
    status.waiting_message = cut_utf8(status.waiting_message, limit);
    status.terminated.message = cut_utf8(status.terminated.message, limit);
    if (status.last) status.last->message = cut_utf8(status.last->message, limit);
  }
}

void write_outcome(Value status, const Outcome& outcome) {
  if (!outcome.message.empty()) status.set("message", outcome.message);
  status.set("phase", phase_text(outcome.phase));
  if (!outcome.reason.empty()) status.set("reason", outcome.reason);
}

void write_address(Value status, std::string_view single, std::string_view list,
                   const std::string& address) {
  if (address.empty()) return;
  status.set(single, address);
  const Value entry = Value::object(status.arena());
  entry.set("ip", address);
  status.array_at(list).push_back(entry);
}

// Main containers by name, init containers as in the spec.
void write_containers(Value status, const PodView& view,
                      const std::vector<ContainerStatus>& statuses, Value pod) {
  std::vector<std::size_t> order(view.containers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) {
    const bool main = view.containers[i].role == Role::kMain;
    return std::tuple(main, main ? std::string_view(view.containers[i].name) : "", i);
  };
  std::ranges::sort(order, {}, rank);
  for (const std::size_t i : order) {
    const ContainerView& container = view.containers[i];
    status.array_at(container.role == Role::kMain ? "containerStatuses" : "initContainerStatuses")
        .push_back(
            write_container_status(status.arena(), container, statuses[i], container_spec(pod, i)));
  }
}

void write_common(Value status, const PodView& view, const PodMemory& memory, Value before) {
  if (view.generation > 0) {
    const std::int64_t seen = before.get("observedGeneration").as_int();
    status.set("observedGeneration", Value::of(std::max(view.generation, seen)));
  }
  if (before.has("qosClass")) status.set("qosClass", before.get("qosClass").as_string());
  if (before.get("startTime").is_string()) {
    status.set("startTime", before.get("startTime").as_string());
  } else if (memory.start_time) {
    status.set("startTime", format_time(*memory.start_time));
  }
}

// Equal but for the generation that was looked at, which alone is no news.
bool same_condition(Value a, Value b) {
  constexpr std::array<std::string_view, 4> kTold = {"status", "reason", "message",
                                                     "lastTransitionTime"};
  return a.is_object() && std::ranges::all_of(kTold, [&](std::string_view key) {
           return a.get(key).as_string() == b.get(key).as_string();
         });
}

// Conditions are merged by type: only those that changed are sent, so nobody else's is overwritten.
Value changed_conditions(json::Arena& arena, Value before, Value after) {
  Value out = Value::array(arena);
  for (const Value condition : after.items()) {
    const Value old = api::condition_of(before, condition.get("type").as_string());
    if (same_condition(old, condition)) continue;
    Value change = json::clone(arena, condition);
    for (const std::string_view key : {"reason", "message"}) {
      if (old.has(key) && !condition.has(key)) change.set(key, Value());
    }
    out.push_back(change);
  }
  return out;
}

}  // namespace

Value write_status(json::Arena& arena, const PodView& view, const PodMemory& memory, Value pod,
                   Time now) {
  const Value before = pod.get("status");
  auto statuses = container_statuses(view, memory);
  cut_messages(statuses);
  const Outcome outcome = clamped(computed(view, memory, statuses), memory, before);
  Value status = Value::object(arena);
  status.set("conditions",
             write_conditions(arena, view,
                              {.statuses = statuses,
                               .phase = outcome.phase,
                               .ready_to_start = memory.prepared && !is_terminal(outcome.phase),
                               .resetting = memory.reset_by.has_value(),
                               .before = before.get("conditions"),
                               .now = now}));
  write_address(status, "hostIP", "hostIPs", memory.host_ip);
  write_address(status, "podIP", "podIPs", memory.pod_ip);
  write_outcome(status, outcome);
  write_common(status, view, memory, before);
  write_containers(status, view, statuses, pod);
  return status;
}

Value write_rejection(json::Arena& arena, const PodView& view, const PodMemory& memory, Value pod) {
  Value status = Value::object(arena);
  write_outcome(status, {.phase = Phase::kFailed,
                         .reason = memory.failed->reason,
                         .message = memory.failed->message});
  write_common(status, view, memory, pod.get("status"));
  return status;
}

Value status_patch(json::Arena& arena, const PodView& view, Value before, Value after) {
  Value change = Value::object(arena);
  for (const auto& [key, value] : after.members()) {
    if (key == "conditions") {
      const Value conditions = changed_conditions(arena, before.get(key), value);
      if (!conditions.empty()) change.set(key, conditions);
    } else if (!json::equal(before.get(key), value)) {
      change.set(key, value);
    }
  }
  for (const std::string_view key : {"reason", "message"}) {
    if (before.has(key) && !after.has(key)) change.set(key, Value());
  }
  if (change.empty()) return {};
  Value patch = Value::object(arena);
  patch.object_at("metadata").set("uid", view.uid);
  patch.set("status", change);
  return patch;
}

}  // namespace muster::agent
