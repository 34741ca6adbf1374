#include "api/views/pod_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "api/tables/table_row.h"
#include "api/views/conditions.h"
#include "api/views/pod_phase.h"

namespace muster::api {
namespace {

using json::Value;

struct Restarts {
  std::int64_t count = 0;
  std::optional<Time> last;

  void add(Value container) {
    count += container.get("restartCount").as_int();
    const auto finished = time_of(container.get({"lastState", "terminated", "finishedAt"}));
    if (finished && (!last || *finished > *last)) last = finished;
  }
};

bool is_sidecar(Value pod, std::string_view init_container) {
  const auto declared = pod.get({"spec", "initContainers"}).items();
  return std::ranges::any_of(declared, [&](Value container) {
    return container.get("name").as_string() == init_container &&
           container.get("restartPolicy").as_string() == "Always";
  });
}

// Error, OOMKilled, or else the signal or exit code.
std::string reason_of_end(Value terminated) {
  if (const auto reason = terminated.get("reason").as_string(); !reason.empty())
    return std::string(reason);
  if (const auto signal = terminated.get("signal").as_int(); signal != 0)
    return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", terminated.get("exitCode").as_int());
}

bool has_ended_well(Value container) {
  const Value terminated = container.get({"state", "terminated"});
  return !terminated.is_null() && terminated.get("exitCode").as_int() == 0;
}

std::string status_before_start(Value pod) {
  std::string status(pod.get({"status", "phase"}).as_string());
  if (const auto reason = pod.get({"status", "reason"}).as_string(); !reason.empty())
    status = reason;
  if (find_condition(pod, "PodScheduled").get("reason").as_string() == "SchedulingGated") {
    status = "SchedulingGated";
  }
  return status;
}

// The status of an init container that is not done; nothing if it is.
std::optional<std::string> unfinished_init(Value pod, Value container, std::size_t index,
                                           bool sidecar) {
  const Value terminated = container.get({"state", "terminated"});
  if (has_ended_well(container)) return std::nullopt;
  if (sidecar && container.get("started").as_bool()) return std::nullopt;
  if (!terminated.is_null()) return "Init:" + reason_of_end(terminated);
  const auto waiting = container.get({"state", "waiting", "reason"}).as_string();
  if (!waiting.empty() && waiting != "PodInitializing") return fmt::format("Init:{}", waiting);
  return fmt::format("Init:{}/{}", index, pod.get({"spec", "initContainers"}).size());
}

class Summarizer {
 public:
  explicit Summarizer(Value pod) : pod_(pod) {}
  PodSummary run();

 private:
  void count_containers();
  bool walk_init_containers();  // true while they are not done
  void walk_containers();
  void end_of_completed(bool has_running, const std::string& failure);

  Value pod_;
  PodSummary summary_;
  Restarts restarts_;
  Restarts sidecar_restarts_;
};

void Summarizer::count_containers() {
  summary_.total = static_cast<int>(pod_.get({"spec", "containers"}).size());
  for (const Value container : pod_.get({"spec", "initContainers"}).items()) {
    if (container.get("restartPolicy").as_string() == "Always") ++summary_.total;
  }
}

bool Summarizer::walk_init_containers() {
  const auto containers = pod_.get({"status", "initContainerStatuses"}).items();
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Value container = containers[i];
    const bool sidecar = is_sidecar(pod_, container.get("name").as_string());
    restarts_.add(container);
    if (sidecar) sidecar_restarts_.add(container);
    if (auto status = unfinished_init(pod_, container, i, sidecar)) {
      summary_.status = *std::move(status);
      return true;
    }
    const bool ended_well = has_ended_well(container);
    if (sidecar && !ended_well && container.get("ready").as_bool()) ++summary_.ready;
  }
  return false;
}

// From the last to the first, so that the first one's reason wins.
void Summarizer::walk_containers() {
  restarts_ = sidecar_restarts_;
  bool has_running = false;
  std::string failure;
  const auto containers = pod_.get({"status", "containerStatuses"}).items();
  for (const Value container : containers | std::views::reverse) {
    restarts_.add(container);
    const auto waiting = container.get({"state", "waiting", "reason"}).as_string();
    const Value terminated = container.get({"state", "terminated"});
    if (!waiting.empty()) {
      summary_.status = waiting;
    } else if (!terminated.is_null()) {
      summary_.status = reason_of_end(terminated);
      if (terminated.get("exitCode").as_int() != 0) failure = summary_.status;
    } else if (container.get("ready").as_bool() && !container.get({"state", "running"}).is_null()) {
      has_running = true;
      ++summary_.ready;
    }
  }
  if (summary_.status == "Completed") end_of_completed(has_running, failure);
}

// One container is done; what of the others?
void Summarizer::end_of_completed(bool has_running, const std::string& failure) {
  if (has_running && has_condition(pod_, "Ready")) {
    summary_.status = "Running";
  } else if (!failure.empty()) {
    summary_.status = failure;
  } else if (has_running) {
    summary_.status = "NotReady";
  }
}

PodSummary Summarizer::run() {
  summary_.status = status_before_start(pod_);
  count_containers();
  const bool initializing = walk_init_containers();
  if (!initializing || has_condition(pod_, "Initialized")) walk_containers();
  if (!pod_.get({"metadata", "deletionTimestamp"}).is_null()) {
    const auto phase = pod_.get({"status", "phase"}).as_string();
    if (pod_.get({"status", "reason"}).as_string() == "NodeLost") {
      summary_.status = "Unknown";
    } else if (!is_end_phase(phase)) {
      summary_.status = "Terminating";
    }
  }
  summary_.restarts = restarts_.count;
  summary_.last_restart = restarts_.last;
  return summary_;
}

}  // namespace

PodSummary summarize_pod(Value pod) { return Summarizer(pod).run(); }

}  // namespace muster::api
