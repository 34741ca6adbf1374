// The state of a run in words: a block for a terminal, one line per change elsewhere. Pure.
#pragma once

#include <string>
#include <vector>

#include "story/stages.h"

namespace muster::story {

struct BlockView {
  Time now{};
  Time begun{};  // of the run
  std::size_t width = 80;
  bool colours = false;
  std::string trouble;    // what keeps a pod from running
  std::string keys;       // "Ctrl-C: stop, twice: kill"
  bool stopping = false;  // what is under way is being ended
};

// At most kMaxStageLines stages, each a line with a bar, those under way first to be kept; then
// what is waited for; then restarts, time and keys. No line is wider than the view.
inline constexpr std::size_t kMaxStageLines = 8;
std::vector<std::string> progress_block(const Standing& standing, const BlockView& view);

// What has changed in the stages from one look to the next, for people who read it later.
std::vector<std::string> changes(const Standing& before, const Standing& after);

// "restart 1 of 2", with what failed before it, if that is known: "w-0-0 failed: exit code 1; …".
std::string restart_line(std::int64_t restart, std::optional<std::int64_t> most,
                         const std::string& failure);

// What keeps the first pod in trouble from running: "trainer-0-5: CrashLoopBackOff"; empty if none
// is.
std::string trouble_of(const PodList& pods, std::string_view job_set);

}  // namespace muster::story
