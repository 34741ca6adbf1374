#include "cli/follow/ending.h"

#include <fmt/format.h>
#include <signal.h>

#include <utility>

namespace muster::cli {
namespace {

// After a signal, a reader of the last lines that has taken none for so long is not waited for.
// After a second signal no reader is, but the lines get as far as they get by themselves.
constexpr Duration kReaderPatience = std::chrono::seconds(5);
constexpr Duration kLastLines = std::chrono::milliseconds(100);
// One Ctrl-C may come twice: programs that start others pass it on to the process and to its group.
constexpr Duration kOneKeystroke = std::chrono::milliseconds(100);

class Ending {
 public:
  Ending(EndingState& state, Duration now) : state_(state), now_(now) {}
  ending::Effects take_effects() { return std::move(effects_); }

  void on(const ending::Followed& event) {
    state_.is_followed = true;
    state_.plan.job_set = event.job_set;
  }

  void on(const ending::Changed& event) {
    state_.known = event;
    end_if_stopped();
  }

  void on(const ending::Over& event) {
    if (state_.is_stopping) return;
    state_.code = event.exit_code;
    const bool gave_up = event.exit_code == kTimedOut || event.exit_code == kCannotPlace;
    const bool must_stop = gave_up || (state_.plan.is_server_private && state_.known.has_live_pods);
    if (!state_.plan.stops_job_set || !must_stop || state_.known.is_deleted)
      return end(event.exit_code);
    if (gave_up) say(fmt::format("stopping {}", state_.plan.job_set));
    stop();
  }

  void on(const ending::Refused& event) { end(event.exit_code); }

  void on(const ending::Signal& event) {
    const int code = kSignal + event.number;
    if (state_.is_stopping && now_ - state_.stopping_since < kOneKeystroke) return;
    ++state_.signals;
    if (state_.is_ending) {  // nobody reads the last lines
      if (state_.plan.stops_job_set && !state_.is_stopping) state_.code = code;
      return add(ending::StopNow{});
    }
    if (!state_.plan.stops_job_set) return leave(code);
    if (state_.is_stopping) {
      say("killed");
      return add(ending::Kill{});
    }
    state_.stopping_since = now_;
    state_.code = code;
    add(ending::ClearBlock{});
    say(fmt::format("stopping {}; once more kills it", state_.plan.job_set));
    stop();
  }

  void on(const ending::Pressed& event) {
    const bool is_detach = event.key == Key{'d'} && state_.plan.can_detach;
    if (!is_detach || !state_.is_followed || state_.is_stopping || state_.is_ending) return;
    if (!state_.plan.stops_job_set) return leave(kSucceeded);
    add(ending::ClearBlock{});
    say(fmt::format("{0} goes on; muster attach {0}{1} comes back to it", state_.plan.job_set,
                    state_.plan.server));
    end(kSucceeded);
  }

  void on(const ending::ServerLost& event) {
    add(ending::ClearBlock{});
    say("error: " + event.why);
    end(kUnreachable);
  }

  // Nobody needs a run whose reader has gone, as with any other program in a pipe. Elsewhere the
  // lines are lost, but not the work.
  void on(const ending::OutputFailed& event) {
    if (!state_.plan.stops_job_set) {
      if (event.reader_has_gone) return leave(kSignal + SIGPIPE);
      say("error: standard output cannot be written: " + event.why);
      return end(kOutputLost);
    }
    if (!event.reader_has_gone) {
      state_.output_lost = true;
      return say("error: standard output cannot be written, no log is shown: " + event.why);
    }
    if (state_.is_ending || state_.is_stopping) return;
    state_.code = kSignal + SIGPIPE;
    add(ending::ClearBlock{});
    say(fmt::format("nobody reads the output any more: stopping {}", state_.plan.job_set));
    stop();
  }

  void on(const ending::Deleted&) { end_if_stopped(); }
  void on(const ending::DeletionRefused&) { end(state_.code); }
  void on(const ending::Killed&) { end(state_.code); }

 private:
  void add(auto effect) { effects_.emplace_back(std::move(effect)); }
  void say(std::string line) { add(ending::Say{std::move(line)}); }

  // Its pods get their grace period; it is over when they have gone.
  void stop() {
    state_.is_stopping = true;
    if (!state_.is_followed) return end(state_.code);
    add(ending::Delete{});
  }

  void end_if_stopped() {
    if (state_.is_stopping && state_.known.is_deleted && !state_.known.has_live_pods)
      end(state_.code);
  }

  void leave(int code) {
    if (state_.is_ending) return;
    add(ending::ClearBlock{});
    say(fmt::format("{} goes on", state_.plan.job_set));
    end(code);
  }

  void end(int code) {
    if (std::exchange(state_.is_ending, true)) return;
    state_.code = code;
    add(ending::Finish{});
    if (state_.signals == 0) return;
    const bool is_urgent = state_.signals > 1;
    add(ending::LimitFinish{.limit = is_urgent ? kLastLines : kReaderPatience,
                            .while_stuck = state_.plan.stops_job_set && !is_urgent});
  }

  EndingState& state_;
  const Duration now_;
  ending::Effects effects_;
};

}  // namespace

ending::Effects reduce(EndingState& state, const ending::Event& what, Duration now) {
  Ending reducer(state, now);
  std::visit([&](const auto& event) { reducer.on(event); }, what);
  return reducer.take_effects();
}

}  // namespace muster::cli
