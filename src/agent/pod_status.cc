#include "agent/pod_status.h"

#include <algorithm>

namespace muster::agent {
namespace {

using json::Arena;
using json::Value;

bool failed(const ContainerState& container) {
  return container.finished && container.exit_code != 0;
}
bool running(const ContainerState& container) { return container.started && !container.finished; }

bool initialized(const PodState& state) {
  return std::ranges::all_of(
      state.containers, [](const auto& c) { return !c.init || (c.finished && c.exit_code == 0); });
}

bool ready(const PodState& state) {
  return std::ranges::all_of(state.containers, [](const auto& c) { return c.init || running(c); });
}

std::string_view end_reason(const ContainerState& container) {
  if (!container.trouble.empty()) return "StartError";
  return container.exit_code == 0 ? "Completed" : "Error";
}

Value state_of(Arena& arena, const ContainerState& container) {
  Value state = Value::object(arena);
  if (container.finished) {
    Value terminated = state.object_at("terminated");
    terminated.set("exitCode", Value::of(container.exit_code));
    if (container.signal != 0) terminated.set("signal", Value::of(container.signal));
    terminated.set("reason", end_reason(container));
    if (!container.trouble.empty()) terminated.set("message", container.trouble);
    terminated.set("startedAt", format_time(container.started.value_or(*container.finished)));
    terminated.set("finishedAt", format_time(*container.finished));
  } else if (container.started) {
    state.object_at("running").set("startedAt", format_time(*container.started));
  } else {
    state.object_at("waiting").set("reason", "PodInitializing");
  }
  return state;
}

Value container_status(Arena& arena, const ContainerState& container) {
  Value status = Value::object(arena);
  status.set("name", container.name);
  status.set("state", state_of(arena, container));
  status.object_at("lastState");
  status.set("ready", Value::of(container.init ? container.finished && !failed(container)
                                               : running(container)));
  status.set("restartCount", Value::of(0));
  status.set("image", container.image);
  status.set("imageID", "");
  status.set("started", Value::of(running(container)));
  return status;
}

class Conditions {
 public:
  Conditions(Arena& arena, Value before, Time now) : arena_(arena), before_(before), now_(now) {}

  void add(std::string_view type, bool holds, std::string_view reason) {
    Value condition = Value::object(arena_);
    condition.set("type", type);
    condition.set("status", holds ? "True" : "False");
    condition.set("lastProbeTime", Value());
    condition.set("lastTransitionTime", since(type, holds));
    if (!reason.empty()) condition.set("reason", reason);
    list_.push_back(condition);
  }
  // Conditions of others (DisruptionTarget, readiness gates) stay.
  void keep_foreign() {
    for (const Value condition : before_.items()) {
      if (!find(list_, condition.get("type").as_string()))
        list_.push_back(json::clone(arena_, condition));
    }
  }
  Value list() const { return list_; }

 private:
  static std::optional<Value> find(Value list, std::string_view type) {
    for (const Value condition : list.items()) {
      if (condition.get("type").as_string() == type) return condition;
    }
    return std::nullopt;
  }
  std::string since(std::string_view type, bool holds) const {
    const auto old = find(before_, type);
    const bool same = old && (old->get("status").as_string() == "True") == holds;
    return same ? std::string(old->get("lastTransitionTime").as_string()) : format_time(now_);
  }

  Arena& arena_;
  Value before_;
  Time now_;
  Value list_ = Value::array(arena_);
};

}  // namespace

std::string phase(const PodState& state) {
  const bool init_failed =
      std::ranges::any_of(state.containers, [](const auto& c) { return c.init && failed(c); });
  if (init_failed) return "Failed";
  if (!initialized(state)) return "Pending";
  const bool over =
      std::ranges::all_of(state.containers, [](const auto& c) { return c.finished.has_value(); });
  if (!over) return "Running";
  return std::ranges::any_of(state.containers, failed) ? "Failed" : "Succeeded";
}

Value pod_status(Arena& arena, const PodState& state, Value before, Time now) {
  Value status = Value::object(arena);
  const std::string now_phase = phase(state);
  const bool is_ready = now_phase == "Running" && ready(state);
  const std::string_view unready = now_phase == "Succeeded" ? "PodCompleted"
                                   : now_phase == "Failed"  ? "PodFailed"
                                   : is_ready               ? ""
                                                            : "ContainersNotReady";
  Conditions conditions(arena, before.get("conditions"), now);
  conditions.add("PodReadyToStartContainers", now_phase == "Running" || now_phase == "Pending", "");
  conditions.add("Initialized", initialized(state),
                 initialized(state) ? "" : "ContainersNotInitialized");
  conditions.add("Ready", is_ready, unready);
  conditions.add("ContainersReady", is_ready, unready);
  conditions.add("PodScheduled", true, "");
  conditions.keep_foreign();
  status.set("phase", now_phase);
  status.set("conditions", conditions.list());
  status.set("hostIP", state.host_ip);
  status.set("podIP", state.pod_ip);
  status.set("startTime", format_time(state.started));
  for (const auto& container : state.containers) {
    status.array_at(container.init ? "initContainerStatuses" : "containerStatuses")
        .push_back(container_status(arena, container));
  }
  return status;
}

}  // namespace muster::agent
