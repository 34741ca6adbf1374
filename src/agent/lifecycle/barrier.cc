#include "agent/lifecycle/barrier.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/lifecycle/stop.h"
#include "api/views/job_set_names.h"

namespace muster::agent {
namespace {

// Why it makes no sense to wait; empty if it does.
std::string broken_main(const PodView& pod, const PodMemory& memory) {
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    const auto& run = memory.containers[i].run;
    if (pod.containers[i].role != Role::kMain || !run || !run->held || run->alive()) continue;
    const End& end = *run->end;  // without words if a signal ended it
    return fmt::format("container {} could not be made ready: {}", pod.containers[i].name,
                       end.message.empty() ? fmt::format("exit code {}", end.code) : end.message);
  }
  return {};
}

std::string too_late(const Barrier& barrier, const PodMemory& memory) {
  std::string text =
      fmt::format("the group did not start within {} s", barrier.timeout_seconds.value_or(0));
  if (memory.barrier_unnamed)
    return text + fmt::format(": all {} pods had started, but the name {} was not known",
                              barrier.size, barrier.coordinator);
  if (barrier.size > 0)
    text += fmt::format(": {} of {} pods had started", memory.barrier_started, barrier.size);
  if (!memory.barrier_missing.empty()) text += "; missing: " + memory.barrier_missing;
  return text;
}

}  // namespace

void play_barrier(const PodView& pod, PodMemory& memory, std::size_t i, Time now) {
  Run& run = begin_run(memory, i, false);
  run.id = fmt::format("barrier-{}-{}", pod.uid, run.number);
  run.started = now;
}

bool watch_barrier(const PodView& pod, PodMemory& memory, std::size_t i, Time now,
                   Decision& decision) {
  Run& run = *memory.containers[i].run;
  if (memory.barrier_open) {
    end_barrier(run, 0, "", now);
    return true;
  }
  std::string vain = broken_main(pod, memory);
  if (pod.barrier->timeout_seconds) {
    const Time deadline = *run.started + std::chrono::seconds(*pod.barrier->timeout_seconds);
    if (now < deadline) {
      look_again(decision, deadline);
    } else {
      // Also if a main container is broken: it was killed because of this, by an agent that did not
      // live to tell it.
      vain = too_late(*pod.barrier, memory);
    }
  }
  if (vain.empty()) return false;
  end_barrier(run, 1, std::move(vain), now);
  look_again(decision, now);  // what follows from it is decided at the next look
  return false;
}

void end_barrier(Run& run, int code, std::string message, Time now) {
  run.end = End{.code = code,
                .reason = code == 0 ? "Completed" : "Error",
                .message = std::move(message),
                .finished = now};
}

std::optional<Time> first_release(const PodView& pod, const PodMemory& memory) {
  std::optional<Time> first;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    const auto& run = memory.containers[i].run;
    if (pod.containers[i].role != Role::kMain || !run || !run->started) continue;
    first = std::min(first.value_or(*run->started), *run->started);
  }
  return first;
}

void settle_barrier(const PodView& pod, PodMemory& memory, Time released) {
  const std::size_t at = *pod.find(api::kBarrierContainer);
  const auto& run = memory.containers[at].run;
  if (run && run->end && run->end->code == 0) return;
  if (!run || !run->alive()) play_barrier(pod, memory, at, released);
  end_barrier(*memory.containers[at].run, 0, "", released);
}

}  // namespace muster::agent
