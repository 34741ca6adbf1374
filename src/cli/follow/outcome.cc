#include "cli/follow/outcome.h"

#include <algorithm>
#include <iterator>

#include "cli/verbs/exit_code.h"
#include "story/run_lines.h"

namespace muster::cli {

LastWords last_words(const api::JobSet& set, const story::Outcome& outcome, const PodBook& pods,
                     const LogBook& logs, const std::string& exit_code_from) {
  LastWords out{.lines = {story::outcome_line(set.meta.name, outcome)},
                .exit_code = outcome.succeeded ? kSucceeded : kJobSetFailed};
  if (!outcome.succeeded) {
    const story::PodFacts* failed = pods.first_failure(set.status.restarts);
    if (failed == nullptr) failed = pods.first_failure();
    if (failed != nullptr)
      std::ranges::move(story::failure_lines(*failed, logs.last_lines(failed->uid)),
                        std::back_inserter(out.lines));
  }
  if (exit_code_from.empty()) return out;
  if (const auto code = pods.exit_code(exit_code_from, set.status.restarts)) {
    out.exit_code = static_cast<int>(*code);
  } else {
    out.lines.push_back(story::no_own_exit_code_line(exit_code_from));
  }
  return out;
}

}  // namespace muster::cli
