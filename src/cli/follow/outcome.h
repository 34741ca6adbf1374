// How a run ends: its last lines and its exit code. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/views/views.h"
#include "cli/follow/log_book.h"
#include "cli/follow/pod_book.h"
#include "story/stages.h"

namespace muster::cli {

struct LastWords {
  std::vector<std::string> lines;
  int exit_code = 0;
};

// `set` has ended with `outcome`. `exit_code_from` is RJOB[/JOB[/POD]], the process whose exit code
// counts; empty: the JobSet's end does.
LastWords last_words(const api::JobSet& set, const story::Outcome& outcome, const PodBook& pods,
                     const LogBook& logs, const std::string& exit_code_from);

}  // namespace muster::cli
