#include "agent/lifecycle/recall.h"

#include <algorithm>

#include "agent/lifecycle/container_status.h"
#include "api/pod_phase.h"

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
  if (api::is_end_phase(status.get("phase").as_string())) memory.stage = Stage::kTerminating;
  return memory;
}

}  // namespace muster::agent
