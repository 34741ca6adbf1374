#include "agent/lifecycle/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/lifecycle/barrier.h"
#include "agent/lifecycle/stop.h"
#include "base/result.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;

// The way from kSync is one way (pod-lifecycle 0).
void leave_sync(PodMemory& memory) {
  if (memory.stage == Stage::kSync) memory.stage = Stage::kTerminating;
  memory.reset_by.reset();
}

class Machine {
 public:
  Machine(const PodView& pod, PodMemory& memory, const BackoffOptions& backoff, Time now)
      : pod_(pod), memory_(memory), backoff_(backoff), now_(now) {}

  Decision run() {
    if (const auto released = pod_.barrier ? first_release(pod_, memory_) : std::nullopt)
      settle_barrier(pod_, memory_, *released);
    take_deletion();
    check_deadline();
    if (memory_.stage == Stage::kSync && memory_.reset_by) reset();
    if (memory_.stage == Stage::kSync && !memory_.reset_by) sync();
    if (memory_.stage == Stage::kTerminating) stop_all();
    for (std::size_t i = 0; i < size(); ++i) go_on_stopping(pod_, memory_, i, now_, decision_);
    if (memory_.stage == Stage::kTerminating && !memory_.any_alive())
      memory_.stage = Stage::kTerminated;
    return std::move(decision_);
  }

 private:
  std::size_t size() const { return pod_.containers.size(); }
  const ContainerView& view(std::size_t i) const { return pod_.containers[i]; }
  ContainerMemory& container(std::size_t i) { return memory_.containers[i]; }
  void look(Time when) { look_again(decision_, when); }

  // What this look has decided to start is left: there is no later look that would stop it.
  void terminate() {
    leave_sync(memory_);
    std::erase_if(decision_.actions,
                  [](const Action& action) { return action.kind == Action::Kind::kStart; });
  }

  void take_deletion() {
    if (!pod_.deleted && !memory_.object_gone) return;
    if (pod_.deleted) {
      // At least a second, and never longer than what was asked for before.
      const std::int64_t asked =
          std::max<std::int64_t>(1, pod_.deletion_grace.value_or(pod_.grace));
      if (!memory_.grace || asked < *memory_.grace) {
        memory_.grace = asked;
        shorten_stops(memory_, now_ + seconds(asked));
      }
    }
    terminate();
  }

  void check_deadline() {
    if (memory_.stage != Stage::kSync || !pod_.active_deadline || !memory_.start_time) return;
    const Time deadline = *memory_.start_time + seconds(*pod_.active_deadline);
    if (now_ < deadline) return look(deadline);
    fail_for_good(memory_,
                  {.reason = "DeadlineExceeded",
                   .message = "Pod was active on the node longer than the specified deadline"});
    decision_.notices.push_back({.container = std::nullopt,
                                 .warning = false,
                                 .reason = memory_.failed->reason,
                                 .message = memory_.failed->message});
  }

  void sync() {
    if (!memory_.prepared) return;
    if (init_failed_for_good() || mains_are_over()) return terminate();
    tend_running();
    if (walk_init()) walk_main();
  }

  // Whatever a sidecar before it does.
  bool init_failed_for_good() {
    if (is_initialized(pod_, memory_)) return false;
    for (std::size_t i = 0; i < size(); ++i) {
      const auto& run = container(i).run;
      if (view(i).role != Role::kInit || !run || run->alive() || succeeded(*run->end)) continue;
      if (restart_after(pod_, view(i), failure_code(*run->end)) == Restart::kNo) return true;
    }
    return false;
  }

  // Then no sidecar is run again: one that has ended may have been stopped for this, by an agent
  // that did not live to tell it.
  bool mains_are_over() {
    for (std::size_t i = 0; i < size(); ++i) {
      const auto& run = container(i).run;
      if (view(i).role != Role::kMain) continue;
      if (!run || run->held || run->alive()) return false;
      if (restart_after(pod_, view(i), run->end->code) != Restart::kNo) return false;
    }
    return true;
  }

  // Hooks and failed probes of what runs.
  void tend_running() {
    for (std::size_t i = 0; i < size(); ++i) {
      if (!container(i).run || !container(i).run->running()) continue;
      Run& run = *container(i).run;
      if (view(i).has_post_start && run.post_start == Hook::kNone && !run.stop) {
        run.post_start = Hook::kRunning;
        decision_.actions.push_back({.kind = Action::Kind::kPostStart, .container = i});
      }
      if (run.stop) continue;
      if (run.post_start == Hook::kFailed) {
        decision_.notices.push_back({i, true, "FailedPostStartHook", "PostStartHook failed"});
        stop(i, pod_.grace, "FailedPostStartHook");
      } else if (run.unhealthy) {
        stop_unhealthy(i, run);
      }
    }
  }

  void stop_unhealthy(std::size_t i, const Run& run) {
    const bool startup = view(i).has_startup_probe && run.startup == false;
    const auto grace = startup ? view(i).startup_grace : view(i).liveness_grace;
    std::string message = fmt::format("{} {} failed {} probe",
                                      view(i).role == Role::kMain ? "Container" : "Init container",
                                      view(i).name, startup ? "startup" : "liveness");
    const bool again = view(i).role == Role::kMain && policy_restarts(pod_, view(i), 137);
    if (again) message += ", will be restarted";
    stop(i, grace.value_or(pod_.grace), message);
  }

  void stop(std::size_t i, std::int64_t grace, const std::string& message) {
    begin_stop(pod_, memory_, i, {.grace_seconds = grace, .message = message}, now_, decision_);
  }

  // Whether all init containers are done and all sidecars up (pod-lifecycle 2.2).
  bool walk_init() {
    const bool initialized = is_initialized(pod_, memory_);
    for (std::size_t i = 0; i < size() && view(i).role != Role::kMain; ++i) {
      bool done = true;
      if (view(i).role == Role::kSidecar) {
        done = walk_sidecar(i);
      } else if (!initialized) {
        done = view(i).barrier ? walk_barrier(i) : walk_regular_init(i);
      }
      if (memory_.stage != Stage::kSync || memory_.reset_by) return false;
      if (!done && !initialized) return false;
    }
    return true;
  }

  bool walk_sidecar(std::size_t i) {
    const auto& run = container(i).run;
    if (!run) {
      start(i);
    } else if (!run->alive()) {
      restart(i);
    } else {
      return is_started(view(i), container(i));
    }
    return false;
  }

  bool walk_regular_init(std::size_t i) {
    const auto& run = container(i).run;
    if (!run) {
      start(i);
    } else if (!run->alive()) {
      return succeeded(*run->end) || after_failed_init(i);
    }
    return false;
  }

  static bool succeeded(const End& end) { return end.code == 0 && end.reason != "OOMKilled"; }
  static int failure_code(const End& end) { return end.code == 0 ? 137 : end.code; }

  // Always false: it is not done.
  bool after_failed_init(std::size_t i) {
    switch (restart_after(pod_, view(i), failure_code(*container(i).run->end))) {
      case Restart::kNo:
        terminate();
        break;
      case Restart::kYes:
        restart(i);
        break;
      case Restart::kAllContainers:
        begin_reset(i);
        break;
    }
    return false;
  }

  // The one that the agent plays itself: main containers are held ready, then it "runs".
  bool walk_barrier(std::size_t i) {
    auto& run = container(i).run;
    if (run && !run->alive()) return succeeded(*run->end) || after_failed_init(i);
    if (!run) {
      if (!memory_.barrier_open && !hold_mains(false)) return false;
      play_barrier(pod_, memory_, i, now_);
    }
    if (watch_barrier(pod_, memory_, i, now_, decision_)) return true;
    hold_mains(false);
    return false;
  }

  // Whether each is held, or has a reason why it cannot be. `again`: also those whose last attempt
  // has ended.
  bool hold_mains(bool again) {
    bool all = true;
    for (std::size_t i = 0; i < size(); ++i) {
      if (view(i).role != Role::kMain) continue;
      const auto& run = container(i).run;
      if (!run || (again && !run->alive())) start(i, true);
      all = all && ((run && run->held && !run->id.empty()) || container(i).trouble);
    }
    return all;
  }

  void walk_main() {
    bool going = false, held = false;
    for (std::size_t i = 0; i < size(); ++i) {
      if (view(i).role != Role::kMain) continue;
      auto& run = container(i).run;
      if (!run) {
        start(i);
        going = true;
      } else if (run->alive()) {
        held = held || run->held;
        going = true;
      } else {
        run->held = false;  // it could not be made ready: that is how it ended
        switch (restart_after(pod_, view(i), run->end->code)) {
          case Restart::kNo:
            break;
          case Restart::kYes:
            restart(i);
            going = true;
            break;
          case Restart::kAllContainers:
            return begin_reset(i);
        }
      }
    }
    if (held) open_gate();
    if (!going) terminate();
  }

  void open_gate() {
    if (memory_.gate_opened) return note_gate_open(memory_);
    if (memory_.gate_retry && *memory_.gate_retry > now_) return look(*memory_.gate_retry);
    decision_.actions.push_back({.kind = Action::Kind::kOpenGate});
  }

  void start(std::size_t i, bool held = false) {
    // A postStart hook delays those that come after it (pod-lifecycle 2.3).
    const bool hook_runs = std::ranges::any_of(memory_.containers, [](const auto& each) {
      return each.run && each.run->alive() && each.run->post_start == Hook::kRunning;
    });
    if (hook_runs) return;
    if (container(i).trouble && container(i).trouble->retry > now_)
      return look(container(i).trouble->retry);
    decision_.actions.push_back({.kind = Action::Kind::kStart, .container = i, .held = held});
  }

  void restart(std::size_t i) {
    ContainerMemory& memory = container(i);
    const Time finished = memory.run->end->finished;
    if (memory.trouble && memory.trouble->retry > now_) return look(memory.trouble->retry);
    if (const auto until = backoff_until(memory.backoff, finished, now_, backoff_)) {
      if (memory.waits_until != until) {
        memory.waits_until = until;
        decision_.notices.push_back(
            {i, true, "BackOff",
             fmt::format("Back-off restarting failed container {} in pod {}_{}({})", view(i).name,
                         pod_.name, pod_.ns, pod_.uid)});
      }
      return look(*until);
    }
    memory.waits_until.reset();
    note_restart(memory.backoff, finished, now_, backoff_);
    if (!view(i).barrier) return start(i);
    hold_mains(true);
    play_barrier(pod_, memory_, i, now_);
    look(now_);
  }

  // RestartAllContainers (pod-lifecycle 2.4): everything stops without grace, then all begins anew.
  void begin_reset(std::size_t i) {
    memory_.reset_by = i;
    reset();
    if (!memory_.reset_by) look(now_);  // nothing was left to stop, so nothing will be heard
  }

  void reset() {
    for (std::size_t i = 0; i < size(); ++i) {
      if (container(i).run && container(i).run->alive() && !container(i).run->stop) stop(i, 0, "");
    }
    if (memory_.any_alive()) return;
    for (std::size_t i = 0; i < size(); ++i) forget_run(i);
    memory_.reset_by.reset();
    memory_.gate_opened = false;
    memory_.gate_retry.reset();
  }

  void forget_run(std::size_t i) {
    ContainerMemory& memory = container(i);
    if (!memory.run) return;
    constexpr std::string_view kReason = "RestartingAllContainers";
    if (memory.run->stop && i != memory_.reset_by) {  // a victim
      memory.run->end->code = 137;
      memory.run->end->reason = kReason;
    }
    memory.previous = std::move(memory.run);
    memory.run.reset();
    memory.backoff = {};
    memory.waits_until.reset();
    memory.trouble =
        Trouble{.reason = std::string(kReason),
                .message = "The container is removed because RestartAllContainers in place",
                .retry = now_};
  }

  void stop_all() {
    const std::int64_t grace = memory_.grace.value_or(pod_.deletion_grace.value_or(pod_.grace));
    for (std::size_t i = 0; i < size(); ++i) {
      const auto& run = container(i).run;
      if (!run || !run->alive() || run->stop) continue;
      if (view(i).barrier) {
        end_barrier(*container(i).run, 137, "", now_);
      } else {
        stop(i, grace, "");
      }
    }
  }

  const PodView& pod_;
  PodMemory& memory_;
  const BackoffOptions& backoff_;
  const Time now_;
  Decision decision_;
};

}  // namespace

Decision advance(const PodView& pod, PodMemory& memory, const BackoffOptions& backoff, Time now) {
  MUSTER_ASSERT(pod.containers.size() == memory.containers.size(), "containers never change");
  return Machine(pod, memory, backoff, now).run();
}

Run& begin_run(PodMemory& memory, std::size_t i, bool held) {
  ContainerMemory& container = memory.containers[i];
  if (container.run) {
    MUSTER_ASSERT(!container.run->alive(), "two runs of one container at once");
    container.previous = std::move(container.run);
  }
  container.run = Run{.number = container.next_number++, .held = held};
  return *container.run;
}

void note_trouble(PodMemory& memory, std::size_t i, Trouble trouble) {
  memory.containers[i].trouble = std::move(trouble);
}

void take_back_run(PodMemory& memory, std::size_t i) {
  ContainerMemory& container = memory.containers[i];
  container.next_number = container.run->number;
  container.run = std::move(container.previous);
  container.previous.reset();
}

void fail_for_good(PodMemory& memory, Verdict verdict) {
  memory.failed = std::move(verdict);
  leave_sync(memory);
}

void note_gate_open(PodMemory& memory) {
  memory.gate_opened = true;
  for (ContainerMemory& container : memory.containers) {
    if (container.run && container.run->alive()) container.run->held = false;
  }
}

void note_gate_shut(PodMemory& memory, Time retry) { memory.gate_retry = retry; }

}  // namespace muster::agent
