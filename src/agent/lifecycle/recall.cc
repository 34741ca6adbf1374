#include "agent/lifecycle/recall.h"

#include <algorithm>

#include "agent/lifecycle/barrier.h"
#include "agent/lifecycle/container_status.h"
#include "agent/lifecycle/restart.h"
#include "api/views/job_set_names.h"
#include "api/views/pod_phase.h"

namespace muster::agent {
namespace {

using json::Value;

std::string id_of(Value text) {
  std::string_view id = text.as_string();
  if (id.starts_with(kContainerIdScheme)) id.remove_prefix(kContainerIdScheme.size());
  return std::string(id);
}

Run read_terminated(Value terminated, int number) {
  Run run{.number = number, .id = id_of(terminated.get("containerID"))};
  run.started = parse_time(terminated.get("startedAt").as_string());
  if (run.started == Time()) run.started.reset();  // how a run that was never executed is written
  run.end = End{.code = static_cast<int>(terminated.get("exitCode").as_int()),
                .reason = std::string(terminated.get("reason").as_string()),
                .message = std::string(terminated.get("message").as_string()),
                .finished = parse_time(terminated.get("finishedAt").as_string()).value_or(Time())};
  return run;
}

// It ran, and nobody knows how it ended.
Run lost(Value status, int number, Time now) {
  Run run{.number = number, .id = id_of(status.get("containerID"))};
  run.started = parse_time(status.get({"state", "running", "startedAt"}).as_string());
  run.end = End{.code = 137,
                .reason = "ContainerStatusUnknown",
                .message =
                    "The container could not be located when the pod was deleted.  The "
                    "container used to be Running",
                .finished = now};
  return run;
}

Run still_playing(Value status, int number) {
  Run run{.number = number, .id = id_of(status.get("containerID"))};
  run.started = parse_time(status.get({"state", "running", "startedAt"}).as_string());
  return run;
}

void recall_from_status(const ContainerView& view, Value status, Time now,
                        ContainerMemory& memory) {
  const int count = static_cast<int>(status.get("restartCount").as_int());
  const Value state = status.get("state");
  const Value last = status.get({"lastState", "terminated"});
  if (state.get("terminated").is_object()) {
    memory.run = read_terminated(state.get("terminated"), count);
  } else if (state.get("running").is_object()) {
    memory.run = view.barrier ? still_playing(status, count) : lost(status, count, now);
  } else if (last.is_object()) {
    memory.run = read_terminated(last, count);
    return;
  }
  if (memory.run && last.is_object()) memory.previous = read_terminated(last, count - 1);
}

// Probes have not asked yet: what they said last still holds, so that nobody sees a flap.
void recall_verdicts(Value status, Run& run) {
  if (run.id.empty() || id_of(status.get("containerID")) != run.id) return;
  if (status.get("started").as_bool()) run.startup = true;
  if (status.get("ready").as_bool()) run.readiness = true;
}

void recall_container(const ContainerView& view, Value status, std::span<const FoundRun> found,
                      Time now, ContainerMemory& memory) {
  for (const FoundRun& each : found) {
    if (each.container != view.name) continue;
    if (!memory.run || each.run.number > memory.run->number) {
      if (memory.run) memory.previous = std::move(memory.run);
      memory.run = each.run;
    } else if (!memory.previous || each.run.number > memory.previous->number) {
      memory.previous = each.run;
    }
  }
  if (!memory.run) {
    recall_from_status(view, status, now, memory);
  } else {
    memory.run->post_start = Hook::kDone;
    recall_verdicts(status, *memory.run);
    const Value last = status.get({"lastState", "terminated"});
    if (!memory.previous && last.is_object() && memory.run->number > 0)
      memory.previous = read_terminated(last, memory.run->number - 1);
  }
  const int seen = static_cast<int>(status.get("restartCount").as_int());
  memory.next_number = memory.run ? std::max(memory.run->number, seen) + 1 : seen;
}

Value status_of(Value status, std::string_view container) {
  for (const std::string_view part : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value each : status.get(part).items()) {
      if (each.get("name").as_string() == container) return each;
    }
  }
  return {};
}

// When a container last ended in a way that restarts all of them; nothing: none did.
std::optional<Time> last_reset(const PodView& view, const PodMemory& memory) {
  std::optional<Time> last;
  for (std::size_t i = 0; i < view.containers.size(); ++i) {
    for (const auto& run : {memory.containers[i].previous, memory.containers[i].run}) {
      if (!run || !run->end) continue;
      if (restart_after(view, view.containers[i], run->end->code) == Restart::kAllContainers)
        last = std::max(last.value_or(run->end->finished), run->end->finished);
    }
  }
  return last;
}

// RestartAllContainers starts nothing before everything has ended. So if a run began after that,
// those that began before it belong to a life of the pod that is over. If none did, the machine
// decides on it again.
void forget_former_life(const PodView& view, PodMemory& memory) {
  const auto reset = last_reset(view, memory);
  if (!reset) return;
  const auto began_after = [&](const ContainerMemory& container) {
    return container.run && container.run->started && *container.run->started >= *reset;
  };
  if (std::ranges::none_of(memory.containers, began_after)) return;
  for (ContainerMemory& container : memory.containers) {
    if (!container.run || container.run->alive() || began_after(container)) continue;
    container.previous = std::move(container.run);
    container.run.reset();
  }
}

// When a main container was first executed, also by runs before the present ones.
std::optional<Time> first_release_ever(const PodView& view, const PodMemory& memory) {
  std::optional<Time> first = first_release(view, memory);
  for (std::size_t i = 0; i < view.containers.size(); ++i) {
    const auto& run = memory.containers[i].previous;
    if (view.containers[i].role != Role::kMain || !run || !run->started) continue;
    first = std::min(first.value_or(*run->started), *run->started);
  }
  return first;
}

// What the runtime has found says more about the barrier than the status, which may be one report
// old: only the end of the barrier lets a main container go.
void recall_barrier(const PodView& view, PodMemory& memory) {
  const std::size_t at = *view.find(api::kBarrierContainer);
  const auto& barrier = memory.containers[at].run;
  const auto passed = [&] { return barrier && barrier->end && barrier->end->code == 0; };
  if (const auto released = first_release_ever(view, memory))
    settle_barrier(view, memory, *released);
  // One that ended behind the gate has not begun. Where the gate was open in truth, and it failed
  // to start after that, the barrier ends well at the next look.
  for (std::size_t i = 0; i < view.containers.size(); ++i) {
    auto& run = memory.containers[i].run;
    if (view.containers[i].role == Role::kMain && run && !run->alive() && !run->started)
      run->held = !passed();
  }
}

}  // namespace

PodMemory recall(const PodView& view, Value status, std::span<const FoundRun> found, Time now) {
  PodMemory memory = fresh_memory(view);
  memory.start_time = parse_time(status.get("startTime").as_string());
  memory.pod_ip = status.get("podIP").as_string();
  memory.host_ip = status.get("hostIP").as_string();
  for (std::size_t i = 0; i < view.containers.size(); ++i) {
    recall_container(view.containers[i], status_of(status, view.containers[i].name), found, now,
                     memory.containers[i]);
  }
  forget_former_life(view, memory);
  if (view.barrier) {
    recall_barrier(view, memory);
  } else {  // nothing is held here; what has not started is on its way
    for (ContainerMemory& container : memory.containers)
      if (container.run) container.run->held = false;
  }
  if (api::is_end_phase(status.get("phase").as_string())) memory.stage = Stage::kTerminating;
  return memory;
}

}  // namespace muster::agent
