#include "agent/lifecycle/container_status.h"

#include <fmt/format.h>

#include "agent/lifecycle/restart.h"
#include "base/duration.h"

namespace muster::agent {
namespace {

using json::Value;

Terminated terminated_of(const Run& run) {
  return {.code = run.end->code,
          .reason = run.end->reason,
          .message = run.end->message,
          .started = run.started,
          .finished = run.end->finished,
          .id = run.id};
}

bool will_restart(const PodView& pod, const PodMemory& memory, std::size_t i, int code) {
  if (memory.stage != Stage::kSync) return false;
  return restart_after(pod, pod.containers[i], code) != Restart::kNo;
}

void wait(const PodView& pod, const ContainerMemory& memory, ContainerStatus& status) {
  status.state = ContainerStatus::State::kWaiting;
  status.waiting_reason = pod.has_init() ? "PodInitializing" : "ContainerCreating";
  if (!memory.trouble) return;
  status.waiting_reason = memory.trouble->reason;
  status.waiting_message = memory.trouble->message;
}

// An ended run that is shown as the last one while the next attempt is waited for.
void wait_for_restart(const PodView& pod, const ContainerView& view, const ContainerMemory& memory,
                      ContainerStatus& status) {
  wait(pod, memory, status);
  status.last = terminated_of(*memory.run);
  if (!memory.waits_until) return;
  status.waiting_reason = "CrashLoopBackOff";
  status.waiting_message =
      fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                  duration_text(memory.backoff.delay), view.name, pod.name, pod.ns, pod.uid);
}

bool is_ready(const ContainerView& view, const ContainerMemory& memory) {
  const Run& run = *memory.run;
  return is_started(view, memory) && (!view.has_readiness_probe || run.readiness == true);
}

ContainerStatus status_of(const PodView& pod, const PodMemory& all, std::size_t i) {
  const ContainerView& view = pod.containers[i];
  const ContainerMemory& memory = all.containers[i];
  ContainerStatus status;
  if (memory.previous) {
    status.last = terminated_of(*memory.previous);
    status.restart_count = memory.previous->number;
    status.id = memory.previous->id;
  }
  // On its way, or held: it counts when it runs.
  const bool shown = memory.run && (memory.run->started || !memory.run->alive());
  if (!shown || memory.run->held) {
    wait(pod, memory, status);
    return status;
  }
  const Run& run = *memory.run;
  status.restart_count = run.number;
  status.id = run.id;
  if (run.running()) {
    status.state = ContainerStatus::State::kRunning;
    status.started_at = run.started;
    status.started = is_started(view, memory);
    status.ready = view.role != Role::kInit && is_ready(view, memory);
  } else if ((memory.waits_until || memory.trouble) && will_restart(pod, all, i, run.end->code)) {
    wait_for_restart(pod, view, memory, status);
  } else {
    status.state = ContainerStatus::State::kTerminated;
    status.terminated = terminated_of(run);
    status.ready = view.role == Role::kInit && run.end->code == 0;
  }
  return status;
}

Terminated unknown_end() {
  return {.code = 137,
          .reason = "ContainerStatusUnknown",
          .message = "The container could not be located when the pod was terminated",
          .started = std::nullopt,
          .finished = std::nullopt,
          .id = {}};
}

// At the very end nothing is left in the air: who is not known to have ended is said to be unknown.
void fill_in_unknown_ends(const PodView& pod, std::vector<ContainerStatus>& statuses) {
  std::size_t inits = 0, reached = 0;
  bool initialized = true;
  for (std::size_t i = 0; i < statuses.size() && pod.containers[i].role != Role::kMain; ++i) {
    ++inits;
    const bool seen = !statuses[i].waiting() || statuses[i].last;
    if (seen) reached = i + 1;
    const bool done = statuses[i].is_terminated() && statuses[i].terminated.code == 0;
    initialized = initialized && (pod.containers[i].role == Role::kSidecar ? seen : done);
  }
  if (inits > 0 && reached == 0) reached = 1;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const bool main = pod.containers[i].role == Role::kMain;
    if (statuses[i].is_terminated() || (main ? !initialized : i >= reached)) continue;
    statuses[i].state = ContainerStatus::State::kTerminated;
    statuses[i].terminated = unknown_end();
    statuses[i].ready = statuses[i].started = false;
  }
}

std::string id_text(std::string_view id) {
  return id.empty() ? std::string() : fmt::format("{}{}", kContainerIdScheme, id);
}

Value write_terminated(json::Arena& arena, const Terminated& end) {
  // A program that could not be executed was never started; upstream shows that as the epoch.
  const auto time_text = [](std::optional<Time> time) {
    return format_time(time.value_or(Time()));
  };
  Value out = Value::object(arena);
  out.set("exitCode", Value::of(end.code));
  out.set("reason", end.reason);
  if (!end.message.empty()) out.set("message", end.message);
  const bool known = end.finished.has_value();
  out.set("startedAt", known ? Value::string(arena, time_text(end.started)) : Value());
  out.set("finishedAt", known ? Value::string(arena, time_text(end.finished)) : Value());
  if (!end.id.empty()) out.set("containerID", id_text(end.id));
  return out;
}

Value write_state(json::Arena& arena, const ContainerStatus& status) {
  Value out = Value::object(arena);
  switch (status.state) {
    case ContainerStatus::State::kWaiting: {
      const Value waiting = out.object_at("waiting");
      waiting.set("reason", status.waiting_reason);
      if (!status.waiting_message.empty()) waiting.set("message", status.waiting_message);
      break;
    }
    case ContainerStatus::State::kRunning:
      out.object_at("running").set("startedAt", format_time(*status.started_at));
      break;
    case ContainerStatus::State::kTerminated:
      out.set("terminated", write_terminated(arena, status.terminated));
      break;
  }
  return out;
}

void write_mounts(Value out, Value spec) {
  if (spec.get("volumeMounts").empty()) return;
  const Value mounts = out.array_at("volumeMounts");
  for (const Value mount : spec.get("volumeMounts").items()) {
    const Value entry = Value::object(out.arena());
    entry.set("mountPath", mount.get("mountPath").as_string());
    entry.set("name", mount.get("name").as_string());
    if (mount.get("readOnly").as_bool()) {
      entry.set("readOnly", Value::of(true));
      entry.set("recursiveReadOnly", "Disabled");
    }
    mounts.push_back(entry);
  }
}

}  // namespace

std::vector<ContainerStatus> container_statuses(const PodView& pod, const PodMemory& memory) {
  std::vector<ContainerStatus> out;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) out.push_back(status_of(pod, memory, i));
  if (memory.stage == Stage::kTerminated) fill_in_unknown_ends(pod, out);
  return out;
}

Value write_container_status(json::Arena& arena, const ContainerView& view,
                             const ContainerStatus& status, Value spec) {
  Value out = Value::object(arena);
  const bool exists = !status.id.empty();
  if (const Value requests = spec.get({"resources", "requests"}); exists && !requests.empty())
    out.set("allocatedResources", json::clone(arena, requests));
  if (exists) out.set("containerID", id_text(status.id));
  out.set("image", view.image);
  out.set("imageID", "");
  const Value last = out.object_at("lastState");
  if (status.last) last.set("terminated", write_terminated(arena, *status.last));
  out.set("name", view.name);
  out.set("ready", Value::of(status.ready));
  if (const Value resources = spec.get("resources"); exists && resources.is_object())
    out.set("resources", json::clone(arena, resources));
  out.set("restartCount", Value::of(status.restart_count));
  out.set("started", Value::of(status.started));
  out.set("state", write_state(arena, status));
  write_mounts(out, spec);
  return out;
}

}  // namespace muster::agent
