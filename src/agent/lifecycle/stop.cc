#include "agent/lifecycle/stop.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::agent {
namespace {

// A sidecar is signalled after the main containers and the sidecars behind it are gone.
bool has_its_turn(const PodView& pod, const PodMemory& memory, std::size_t i) {
  if (pod.containers[i].role != Role::kSidecar || memory.stage == Stage::kSync) return true;
  for (std::size_t k = i + 1; k < pod.containers.size(); ++k) {
    const auto& run = memory.containers[k].run;
    if (pod.containers[k].role != Role::kInit && run && run->alive()) return false;
  }
  return true;
}

void kill(Stop& stop, std::size_t i, Decision& decision) {
  stop.killed = true;
  decision.actions.push_back({.kind = Action::Kind::kKill, .container = i});
}

}  // namespace

void look_again(Decision& decision, Time when) {
  decision.look_again = std::min(when, decision.look_again.value_or(when));
}

void begin_stop(const PodView& pod, PodMemory& memory, std::size_t i, const StopOrder& order,
                Time now, Decision& decision) {
  Run& run = *memory.containers[i].run;
  run.stop = Stop{.deadline = now + std::chrono::seconds(order.grace_seconds)};
  if (run.held) return kill(*run.stop, i, decision);  // there is nothing in it that could listen
  decision.notices.push_back({i, false, "Killing",
                              order.message.empty()
                                  ? fmt::format("Stopping container {}", pod.containers[i].name)
                                  : order.message});
  if (pod.containers[i].has_pre_stop && order.grace_seconds > 0 && run.running()) {
    run.stop->pre_stop = Hook::kRunning;
    decision.actions.push_back({.kind = Action::Kind::kPreStop, .container = i});
  }
}

void go_on_stopping(const PodView& pod, PodMemory& memory, std::size_t i, Time now,
                    Decision& decision) {
  auto& run = memory.containers[i].run;
  if (!run || !run->alive() || !run->stop || run->stop->killed) return;
  Stop& stop = *run->stop;
  if (!stop.signalled) {
    const bool must_wait =
        stop.pre_stop == Hook::kRunning || !run->started || !has_its_turn(pod, memory, i);
    if (must_wait && now < stop.deadline) return look_again(decision, stop.deadline);
    stop.signalled = now;
    stop.deadline = std::max(stop.deadline, now + kLeastGrace);
    decision.actions.push_back({.kind = Action::Kind::kTerminate, .container = i});
  }
  if (now < stop.deadline) return look_again(decision, stop.deadline);
  kill(stop, i, decision);
}

void shorten_stops(PodMemory& memory, Time deadline) {
  for (ContainerMemory& container : memory.containers) {
    if (!container.run || !container.run->stop) continue;
    Stop& stop = *container.run->stop;
    const Time least = stop.signalled ? *stop.signalled + kLeastGrace : deadline;
    stop.deadline = std::min(stop.deadline, std::max(deadline, least));
  }
}

}  // namespace muster::agent
