// The JobSet that `muster submit` writes for a command. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::cli {

// Who wants more writes a file.
inline constexpr std::int64_t kMaxProcesses = 10'000;

struct Submission {
  std::vector<std::string> command;
  std::string name;  // empty: made of the program's
  std::string queue;
  std::int64_t processes = 1;
  std::int64_t gpus = 0;
  std::string cpus;  // quantities per process; empty: not asked for
  std::string memory;
  std::int64_t max_restarts = 0;
  std::vector<std::string> environment;  // NAME=value
  std::string working_directory;
  std::string image = "none";  // the process runtime has no use for one
};

// YAML. All processes get ranks, several start together. Fails naming what is wrong.
Result<std::string> submitted_job_set(const Submission& submission);

}  // namespace muster::cli
