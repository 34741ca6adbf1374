#include "agent/lifecycle/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/views/conditions.h"

namespace muster::agent {
namespace {

using json::Value;

constexpr std::array<std::string_view, 6> kOwn = {
    "PodReadyToStartContainers", "Initialized",  "Ready",
    "ContainersReady",           "PodScheduled", "AllContainersRestarting"};

struct Judgement {
  bool holds = true;
  std::string reason;
  std::string message;
};

std::string name_list(std::string_view what, const std::vector<std::string>& names) {
  return fmt::format("containers with {} status: [{}]", what, fmt::join(names, " "));
}

Judgement initialized(const PodView& pod, const ConditionInput& input) {
  if (input.phase == Phase::kSucceeded) return {.reason = "PodCompleted"};
  if (api::is_true(api::condition_of(input.before, "Initialized"))) return {};  // never taken back
  std::vector<std::string> incomplete;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    const ContainerStatus& status = input.statuses[i];
    switch (pod.containers[i].role) {
      case Role::kMain:
        if (!status.waiting()) return {};
        break;
      case Role::kInit:
        if (!status.ready) incomplete.push_back(pod.containers[i].name);
        break;
      case Role::kSidecar:
        if (!status.started) incomplete.push_back(pod.containers[i].name);
        break;
    }
  }
  if (incomplete.empty()) return {};
  return {false, "ContainersNotInitialized", name_list("incomplete", incomplete)};
}

Judgement containers_ready(const PodView& pod, const ConditionInput& input) {
  if (input.phase == Phase::kSucceeded) return {false, "PodCompleted", {}};
  if (input.phase == Phase::kFailed) return {false, "PodFailed", {}};
  std::vector<std::string> unready;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    if (pod.containers[i].role != Role::kInit && !input.statuses[i].ready)
      unready.push_back(pod.containers[i].name);
  }
  if (unready.empty()) return {};
  return {false, "ContainersNotReady", name_list("unready", unready)};
}

Judgement ready(const PodView& pod, const Judgement& containers, Value before) {
  if (!containers.holds) return containers;
  std::vector<std::string> faults;
  for (const std::string& gate : pod.readiness_gates) {
    const Value condition = api::condition_of(before, gate);
    if (condition.is_null()) {
      faults.push_back(fmt::format(
          "corresponding condition of pod readiness gate \"{}\" does not exist.", gate));
    } else if (!api::is_true(condition)) {
      faults.push_back(
          fmt::format("the status of pod readiness gate \"{}\" is not \"True\", but {}", gate,
                      condition.get("status").as_string()));
    }
  }
  if (faults.empty()) return {};
  return {false, "ReadinessGatesNotReady", fmt::format("{}", fmt::join(faults, ", "))};
}

bool may_restart_all(const PodView& pod) {
  return std::ranges::any_of(pod.containers, [](const ContainerView& container) {
    return std::ranges::any_of(container.rules, &RestartRule::all_containers);
  });
}

Judgement all_restarting(const ConditionInput& input) {
  if (input.resetting)
    return {true, "RestartAllContainersStarted", "container exited with restart policy rule"};
  if (input.phase == Phase::kSucceeded) return {false, "PodCompleted", {}};
  if (input.phase == Phase::kFailed) return {false, "PodFailed", {}};
  return {false, {}, {}};
}

class Writer {
 public:
  Writer(json::Arena& arena, std::int64_t generation, const ConditionInput& input)
      : arena_(arena), generation_(generation), input_(input) {
    for (const Value condition : input.before.items()) {
      const std::string_view type = condition.get("type").as_string();
      if (std::ranges::find(kOwn, type) == kOwn.end())
        list_.push_back(json::clone(arena, condition));
    }
  }

  void add(std::string_view type, const Judgement& judgement, bool with_generation = true) {
    const std::string_view status = judgement.holds ? "True" : "False";
    const Value old = api::condition_of(input_.before, type);
    Value out = Value::object(arena_);
    out.set("lastProbeTime", Value());
    if (old.get("status").as_string() == status) {
      out.set("lastTransitionTime", old.get("lastTransitionTime").as_string());
    } else {
      out.set("lastTransitionTime", format_time(input_.now));
    }
    if (!judgement.message.empty()) out.set("message", judgement.message);
    if (with_generation && generation_ > 0) out.set("observedGeneration", Value::of(generation_));
    if (!judgement.reason.empty()) out.set("reason", judgement.reason);
    out.set("status", status);
    out.set("type", type);
    list_.push_back(out);
  }
  Value list() const { return list_; }

 private:
  json::Arena& arena_;
  std::int64_t generation_;
  const ConditionInput& input_;
  Value list_ = Value::array(arena_);
};

}  // namespace

Value write_conditions(json::Arena& arena, const PodView& pod, const ConditionInput& input) {
  Writer writer(arena, pod.generation, input);
  const Judgement containers = containers_ready(pod, input);
  writer.add("PodReadyToStartContainers", {.holds = input.ready_to_start});
  writer.add("Initialized", initialized(pod, input));
  writer.add("Ready", ready(pod, containers, input.before));
  writer.add("ContainersReady", containers);
  writer.add("PodScheduled", {});
  if (may_restart_all(pod)) writer.add("AllContainersRestarting", all_restarting(input), false);
  return writer.list();
}

}  // namespace muster::agent
