#include "story/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"

namespace muster::story {
namespace {

constexpr std::size_t kBar = 10;
constexpr std::size_t kWidestStageName = 24;
constexpr int kRed = 31, kGreen = 32, kYellow = 33, kFaint = 2;

std::string_view mark_of(StageState state) {
  switch (state) {
    case StageState::kDone:
      return "[ok]";
    case StageState::kFailed:
      return "[!!]";
    case StageState::kRunning:
    case StageState::kStarting:
      return "[>>]";
    default:
      return "[..]";
  }
}

int colour_for(StageState state) {
  switch (state) {
    case StageState::kDone:
      return kGreen;
    case StageState::kFailed:
      return kRed;
    case StageState::kRunning:
    case StageState::kStarting:
      return kYellow;
    default:
      return kFaint;
  }
}

std::string bar(std::int64_t part, std::int64_t whole) {
  const auto filled = whole <= 0 ? kBar
                                 : static_cast<std::size_t>(std::clamp<std::int64_t>(
                                       part * static_cast<std::int64_t>(kBar) / whole, 0, kBar));
  return std::string(filled, '#') + std::string(kBar - filled, '-');
}

// How long it has run, or ran.
std::string time_of(const Stage& stage, Time now) {
  if (!stage.started) return "";
  return human_duration(std::max(Duration{}, stage.finished.value_or(now) - *stage.started));
}

std::string never_started(const Stage& stage) {
  const std::string word(word_for(StageState::kNeverStarted));
  return stage.never_because.empty() ? word : fmt::format("{} ({})", word, stage.never_because);
}

std::string tail_of(const Stage& stage, const BlockView& view) {
  if (stage.state == StageState::kWaiting)
    return stage.waits_for.empty() ? "waits" : "waits for " + stage.waits_for;
  if (stage.state == StageState::kNeverStarted) return never_started(stage);
  const std::string time = time_of(stage, view.now);
  const bool under_way =
      stage.state == StageState::kStarting || stage.state == StageState::kRunning;
  const bool some_finished = stage.state == StageState::kRunning && stage.pods_finished > 0;
  return fmt::format("{}{}{}{}", under_way && view.stopping ? "stopping" : word_for(stage.state),
                     time.empty() ? "" : " ", time,
                     some_finished ? fmt::format(", {} finished", stage.pods_finished) : "");
}

std::string stage_line(const Stage& stage, std::size_t name_width, const BlockView& view) {
  const std::string name = cut_to(plain_text(stage.name), name_width);
  const std::string mark(mark_of(stage.state));
  const std::string rest =
      fmt::format(" {:<{}} {} {}/{} {}", name, name_width, bar(stage.pods_there(), stage.pods),
                  stage.pods_there(), stage.pods, tail_of(stage, view));
  return coloured(mark, colour_for(stage.state), view.colours) +
         cut_to(rest, view.width - mark.size());
}

bool is_under_way(const Stage& stage) {
  return stage.state == StageState::kStarting || stage.state == StageState::kRunning ||
         stage.state == StageState::kFailed;
}

// The stages to show in their own order; those that are done or wait give way.
std::vector<const Stage*> shown(const std::vector<Stage>& stages) {
  std::vector<const Stage*> out;
  std::size_t room = kMaxStageLines;
  const auto busy = static_cast<std::size_t>(std::ranges::count_if(stages, is_under_way));
  std::size_t idle_room = room > busy ? room - busy : 0;
  for (const Stage& stage : stages) {
    if (!is_under_way(stage) && idle_room == 0) continue;
    if (!is_under_way(stage)) --idle_room;
    if (room == 0) break;
    --room;
    out.push_back(&stage);
  }
  return out;
}

std::string last_line(const Standing& standing, const BlockView& view) {
  std::string restarts = fmt::format("restarts {}", standing.restarts);
  if (standing.max_restarts) restarts += fmt::format("/{}", *standing.max_restarts);
  const Duration elapsed = std::max(Duration{}, view.now - view.begun);
  return fmt::format("{}   elapsed {}{}{}", restarts, human_duration(elapsed),
                     view.keys.empty() ? "" : "   ", view.keys);
}

std::string change_of(const Stage& stage) {
  switch (stage.state) {
    case StageState::kWaiting:
      return stage.waits_for.empty() ? "" : fmt::format("waits for {}", stage.waits_for);
    case StageState::kRunning:
      // That all have finished is said by the stage's end.
      if (stage.pods > 0 && stage.pods_finished == stage.pods) return "";
      return fmt::format(
          "running, {} of {} pods ready{}", stage.pods_ready, stage.pods,
          stage.pods_finished > 0 ? fmt::format(", {} finished", stage.pods_finished) : "");
    case StageState::kNeverStarted:
      return never_started(stage);
    case StageState::kStarting:
      return fmt::format("starting {} {}", stage.pods, stage.pods == 1 ? "pod" : "pods");
    default:
      return std::string(word_for(stage.state));
  }
}

}  // namespace

std::vector<std::string> progress_block(const Standing& standing, const BlockView& view) {
  std::vector<std::string> lines;
  std::size_t name_width = 0;
  for (const Stage& stage : standing.stages)
    name_width = std::max(name_width, std::min(stage.name.size(), kWidestStageName));
  const auto visible = shown(standing.stages);
  for (const Stage* stage : visible) lines.push_back(stage_line(*stage, name_width, view));
  if (visible.size() < standing.stages.size()) {
    lines.push_back(
        cut_to(fmt::format("     ... and {} more stages", standing.stages.size() - visible.size()),
               view.width));
  }
  const std::string& why = view.trouble.empty() ? standing.waiting : view.trouble;
  if (standing.suspended) {
    lines.push_back(cut_to("suspended: nothing starts before it is resumed", view.width));
  } else if (!why.empty()) {
    lines.push_back(cut_to(plain_text(why), view.width));
  }
  lines.push_back(coloured(cut_to(last_line(standing, view), view.width), kFaint, view.colours));
  return lines;
}

std::vector<std::string> changes(const Standing& before, const Standing& after) {
  std::vector<std::string> lines;
  for (const Stage& stage : after.stages) {
    const auto old = std::ranges::find(before.stages, stage.name, &Stage::name);
    if (old != before.stages.end() && old->state == stage.state) continue;
    // A pod that ends or is stopped makes it less than complete: no news, unless all start again.
    const bool fewer = old != before.stages.end() && old->state == StageState::kRunning &&
                       stage.state == StageState::kStarting && after.restarts == before.restarts;
    // What failed before a restart is told by that.
    const bool is_past = stage.state == StageState::kFailed && after.restarts > before.restarts;
    if (fewer || is_past) continue;
    const std::string text = change_of(stage);
    if (!text.empty()) lines.push_back(fmt::format("{}: {}", plain_text(stage.name), text));
  }
  return lines;
}

std::string restart_line(std::int64_t restart, std::optional<std::int64_t> most,
                         const std::string& failure) {
  return fmt::format("{}{}restart {}{}", failure, failure.empty() ? "" : "; ", restart,
                     most ? fmt::format(" of {}", *most) : "");
}

std::string trouble_of(const PodList& pods, std::string_view job_set) {
  for (const PodFacts* const each : pods) {
    const PodFacts& pod = *each;
    if (pod.has_ended() || (pod.trouble.empty() && pod.unschedulable.empty())) continue;
    return fmt::format(
        "{}: {}", short_name(pod, job_set),
        plain_text(pod.trouble.empty() ? "cannot be placed: " + pod.unschedulable : pod.trouble));
  }
  return "";
}

}  // namespace muster::story
