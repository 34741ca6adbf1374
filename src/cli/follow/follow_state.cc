#include "cli/follow/follow_state.h"

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "base/terminal_text.h"
#include "cli/follow/outcome.h"
#include "cli/verbs/exit_code.h"
#include "story/progress.h"
#include "story/run_lines.h"

namespace muster::cli {
namespace {

constexpr Duration kTickPause = std::chrono::seconds(1);
constexpr int kTicksPerQuestion = 10;  // to the server, whether it is there
constexpr Duration kShowPause = std::chrono::milliseconds(50);
constexpr std::size_t kFewPods = 100;
constexpr std::size_t kMaxSaid = 100;         // more than anybody reads
constexpr std::size_t kMaxEarlyJobs = 1'000;  // likewise
constexpr Duration kLastWordsPause = std::chrono::milliseconds(500);

class Reducer {
 public:
  Reducer(FollowState& state, Time now) : state_(state), now_(now) {}
  FollowEffects take_effects() { return std::move(effects_); }

  void on(const event::JobSetSeen& event) {
    state_.set = event.set;
    for (const event::JobWarned& job : std::exchange(state_.early_jobs, {})) on(job);
    // Of few pods it is shown at once, so that it stands where it belongs among the lines of logs.
    state_.pods.size() <= kFewPods ? show() : show_soon();
    end_if_over();
  }

  void on(const event::JobSetGone&) {
    state_.deleted = true;
    if (state_.deletion_expected || state_.is_over) return;
    note(story::deleted_line(state_.plan.job_set));
    end(kCancelled);
  }

  void on(const event::PodSeen& event) {
    const PodBook::Change change = state_.pods.see(event.facts);
    const story::PodFacts& facts = change.pod.facts;
    if (change.wants_room) effects_.emplace_back(effect::AskForRoom{});
    if (state_.set)
      note_all(state_.stages.look_at_attempt(
          *state_.set, parse_number<std::int32_t>(facts.attempt).value_or(0), state_.pods));
    for (LogRun& log : state_.logs.look(facts)) read(std::move(log));
    if (change.could_not_start) note(story::start_error_line(facts, state_.plan.job_set));
    for (const story::PodWarning& warning : change.warnings) remark(warning);
    show_soon();
    end_if_expected();
  }

  void on(const event::PodGone& event) {
    state_.pods.forget(event.uid);
    show_soon();
    end_if_expected();
  }

  void on(const event::PodsComplete&) {
    state_.all_pods_known = true;
    end_if_over();
  }

  void on(const event::PodWarned& event) {
    if (!state_.pods.take_warning(event.uid, event.warning)) return;
    remark(event.warning);
    if (event.warning.kind == story::PodWarning::Kind::kFault) show_soon();
  }

  void on(const event::JobWarned& event) {
    if (!state_.set) {
      if (state_.early_jobs.size() < kMaxEarlyJobs) state_.early_jobs.push_back(event);
      return;
    }
    if (state_.pods.take_podless(*state_.set, event.job, event.message, event.created)) show_soon();
  }

  // Jobs that the server will never accept: waiting does not help.
  void on(const event::JobsRefused& event) {
    const bool is_ours = event.job_set_uid == state_.plan.uid;
    if (!is_ours || state_.is_over || state_.deletion_expected) return;
    note_all(story::refused_jobs_lines(event.message));
    end(kCannotPlace);
  }

  void on(const event::RoomKnown& event) {
    state_.pods.take_room(event.room);
    show_soon();
  }

  void on(const event::LogLine& event) {
    const LogOptions& options = state_.plan.logs;
    std::string text = log_line_text(event.time, event.text, options);
    effects_.emplace_back(effect::PrintLog{log_line(event.log.prefix, text, options)});
    state_.logs.keep_line(event.log.uid, std::move(text));
  }

  void on(const event::LogEnded& event) {
    if (!event.refusal.empty()) {
      const std::string& prefix = event.log.prefix;
      say_once(
          story::no_log_line(prefix.empty() ? plain_text(event.log.pod) : prefix, event.refusal));
    }
    if (auto next = state_.logs.ended(event.log)) read(*std::move(next));
    end_if_over();
  }

  void on(const event::TimerFired& event) {
    switch (event.timer) {
      case FollowTimer::kTick:
        return tick();
      case FollowTimer::kShow:
        state_.show_is_due = false;
        if (!state_.is_over) show();
        return;
      case FollowTimer::kLastWords:
        state_.last_words_waited = true;
        return end_if_over();
    }
  }

  void on(const event::Surroundings& event) { state_.surroundings = event; }

  void on(const event::StopRequested&) {
    state_.deletion_expected = true;
    show_soon();
  }

 private:
  void note(std::string line) { effects_.emplace_back(effect::Note{std::move(line)}); }
  void note_all(std::vector<std::string> lines) {
    for (std::string& line : lines) note(std::move(line));
  }
  void read(LogRun log) { effects_.emplace_back(effect::ReadLog{std::move(log)}); }
  void start(FollowTimer timer, Duration delay) {
    effects_.emplace_back(effect::StartTimer{timer, delay});
  }

  void say_once(std::string line) {
    if (state_.said.size() < kMaxSaid && state_.said.insert(line).second) note(std::move(line));
  }
  // What a pod asks for and does not get (an image, a limit).
  void remark(const story::PodWarning& warning) {
    if (warning.kind == story::PodWarning::Kind::kRemark) say_once("warning: " + warning.message);
  }

  story::BlockView block_view() const {
    return {.now = now_,
            .begun = state_.plan.begun,
            .width = state_.surroundings.width,
            .colours = state_.plan.status_colours,
            .trouble = {},
            .keys = state_.deletion_expected ? "stopping   Ctrl-C: kill" : state_.plan.keys,
            .stopping = state_.deletion_expected};
  }

  void show() {
    note_all(state_.stages.look(*state_.set, state_.pods));
    if (!state_.plan.has_block || state_.is_over) return;
    story::BlockView view = block_view();
    view.trouble = state_.stages.trouble();
    effects_.emplace_back(
        effect::ShowBlock{story::progress_block(*state_.stages.standing(), view)});
  }

  // Hundreds of pods change at once: one picture will do.
  void show_soon() {
    if (!state_.set || state_.is_over || std::exchange(state_.show_is_due, true)) return;
    start(FollowTimer::kShow, kShowPause);
  }

  // The last picture stays above what is said of the end.
  void keep_block() {
    effects_.emplace_back(effect::ClearBlock{});
    if (!state_.plan.has_block || !state_.stages.standing()) return;
    story::BlockView view = block_view();
    view.keys.clear();
    note_all(story::progress_block(*state_.stages.standing(), view));
  }

  void tick() {
    if (state_.is_over) return;
    if (state_.set) {
      if (state_.plan.has_block) show();
      watch_for_dead_end();
    }
    const auto& timeout = state_.plan.timeout;
    const Duration elapsed = now_ - state_.plan.begun;
    if (!state_.is_over && timeout && elapsed >= *timeout) {
      note(story::timeout_line(state_.plan.job_set, *timeout));
      return end(kTimedOut);
    }
    if (++state_.ticks % kTicksPerQuestion == 0) effects_.emplace_back(effect::AskServer{});
    start(FollowTimer::kTick, timeout ? std::min(kTickPause, *timeout - elapsed) : kTickPause);
  }

  // Nobody else can bring what is missing: waiting would be for ever.
  void watch_for_dead_end() {
    std::optional<story::DeadEnd> stuck;
    if (state_.surroundings.is_alone && !state_.deletion_expected) stuck = state_.pods.dead_end();
    switch (state_.dead_end.look(stuck, now_)) {
      case DeadEndWatch::Verdict::kGoOn:
        return;
      case DeadEndWatch::Verdict::kSayWhen:
        return note(story::last_chance_line(stuck->grace));
      case DeadEndWatch::Verdict::kGiveUp:
        note(story::dead_end_line(*stuck, !state_.plan.has_block));
        return end(kCannotPlace);
    }
  }

  void end_if_expected() {
    if (state_.outcome_seen) end_if_over();
  }

  // The logs are part of the run: it ends after their last line.
  void end_if_over() {
    if (state_.is_over || !state_.set || !state_.logs.all_ended()) return;
    const auto outcome = story::standing_of(*state_.set).outcome;
    if (!outcome) return;
    if (!std::exchange(state_.outcome_seen, true)) {
      start(FollowTimer::kLastWords, kLastWordsPause);
      effects_.emplace_back(effect::FindAllPods{});
      return;
    }
    if (!state_.all_pods_known) return;
    // The JobSet's end may be heard before that of its pods.
    if (state_.pods.has_live() && !state_.last_words_waited) return;
    show();  // the last change
    keep_block();
    LastWords last =
        last_words(*state_.set, *outcome, state_.pods, state_.logs, state_.plan.exit_code_from);
    note_all(std::move(last.lines));
    end(last.exit_code);
  }

  void end(int exit_code) {
    if (std::exchange(state_.is_over, true)) return;
    effects_.emplace_back(effect::ClearBlock{});
    effects_.emplace_back(effect::End{exit_code});
  }

  FollowState& state_;
  const Time now_;
  FollowEffects effects_;
};

}  // namespace

FollowState::FollowState(FollowPlan what)
    : plan(std::move(what)),
      pods(plan.job_set),
      logs(plan.job_set, plan.logs),
      stages({.job_set = plan.job_set,
              .resume_command = plan.resume_command,
              .has_block = plan.has_block}) {}

FollowEffects reduce(FollowState& state, const FollowEvent& what, Time now) {
  Reducer reducer(state, now);
  std::visit([&](const auto& event) { reducer.on(event); }, what);
  return reducer.take_effects();
}

}  // namespace muster::cli
