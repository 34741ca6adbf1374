#include "cli/follow/stage_news.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "story/progress.h"
#include "story/run_lines.h"

namespace muster::cli {

std::vector<std::string> StageNews::look(const api::JobSet& set, const PodBook& pods) {
  std::vector<std::string> lines;
  const auto before = std::exchange(standing_, story::standing_of(set, pods.present()));
  story::Standing& now = *standing_;
  seen_before_end_ |= !now.outcome;
  if (now.outcome && seen_before_end_) story::mark_unstarted(now, pods.stages());

  const bool waits = now.suspended && !now.outcome;
  if (waits && !suspension_told_)
    lines.push_back(story::suspended_line(options_.job_set, options_.resume_command));
  suspension_told_ = now.suspended && (waits || suspension_told_);

  std::ranges::move(look_at_attempt(set, now.restarts, pods), std::back_inserter(lines));
  if (!restarts_) restarts_ = now.restarts;

  const std::string told_trouble = std::exchange(trouble_, pods.trouble());
  if (options_.has_block) return lines;
  std::ranges::move(story::changes(before.value_or(story::Standing{}), now),
                    std::back_inserter(lines));
  if (!trouble_.empty() && trouble_ != told_trouble) lines.push_back(trouble_);
  return lines;
}

std::vector<std::string> StageNews::look_at_attempt(const api::JobSet& set, std::int64_t restart,
                                                    const PodBook& pods) {
  if (restart <= restarts_.value_or(restart)) return {};
  restarts_ = restart;
  const story::PodFacts* const failed = pods.first_failure(restart - 1);
  std::optional<std::int64_t> most;
  if (set.failure_policy) most = set.failure_policy->max_restarts;
  return {story::restart_line(
      restart, most,
      failed == nullptr ? ""
                        : fmt::format("{} failed: {}", story::short_name(*failed, options_.job_set),
                                      failed->failure->text()))};
}

}  // namespace muster::cli
