#include "agent/lifecycle/phase.h"

#include "agent/lifecycle/restart.h"

namespace muster::agent {
namespace {

struct Tally {
  int pending_init = 0;
  int failed_init_final = 0;
  int pending_sidecar = 0;
  int running = 0;
  int waiting = 0;
  int stopped = 0;
  int stopped_final = 0;
  int succeeded = 0;
};

bool restartable(const PodView& pod, const ContainerView& container, int code) {
  return restart_after(pod, container, code) != Restart::kNo;
}

void count_init(const PodView& pod, const ContainerView& view, const ContainerStatus& status,
                Tally& tally) {
  std::optional<int> code;
  if (status.is_terminated()) code = status.terminated.code;
  if (status.waiting() && status.last) code = status.last->code;
  if (!code || (status.waiting() && *code == 0)) {
    ++tally.pending_init;
  } else if (*code != 0 && !restartable(pod, view, *code)) {
    ++tally.failed_init_final;
  }
}

void count_sidecar(const ContainerStatus& status, Tally& tally) {
  if (status.running()) {
    ++tally.running;
    if (!status.started) ++tally.pending_sidecar;
  } else if (status.waiting() && !status.last) {
    ++tally.pending_sidecar;
    ++tally.waiting;
  }
}

void count_main(const PodView& pod, const ContainerView& view, const ContainerStatus& status,
                Tally& tally) {
  if (status.running()) {
    ++tally.running;
  } else if (status.waiting() && !status.last) {
    ++tally.waiting;
  } else {
    const int code = status.is_terminated() ? status.terminated.code : status.last->code;
    ++tally.stopped;
    if (!restartable(pod, view, code)) ++tally.stopped_final;
    if (status.is_terminated() && code == 0) ++tally.succeeded;
  }
}

}  // namespace

std::string_view phase_text(Phase phase) {
  switch (phase) {
    case Phase::kPending:
      return "Pending";
    case Phase::kRunning:
      return "Running";
    case Phase::kSucceeded:
      return "Succeeded";
    case Phase::kFailed:
      return "Failed";
  }
  return "";
}

Phase phase_of(const PodView& pod, const PhaseInput& input) {
  Tally tally;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    const ContainerView& view = pod.containers[i];
    switch (view.role) {
      case Role::kInit:
        count_init(pod, view, input.statuses[i], tally);
        break;
      case Role::kSidecar:
        count_sidecar(input.statuses[i], tally);
        break;
      case Role::kMain:
        count_main(pod, view, input.statuses[i], tally);
        break;
    }
  }
  if (tally.failed_init_final > 0) return Phase::kFailed;
  const bool sidecar_first = tally.pending_sidecar > 0 && !input.initialized;
  if (tally.pending_init > 0 || sidecar_first || tally.waiting > 0) return Phase::kPending;
  if (tally.running > 0) return Phase::kRunning;
  if (tally.stopped == 0) return Phase::kPending;
  if (!input.finished && tally.stopped != tally.stopped_final) return Phase::kRunning;
  return tally.stopped == tally.succeeded ? Phase::kSucceeded : Phase::kFailed;
}

}  // namespace muster::agent
