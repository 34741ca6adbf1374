// One run as its shim sees it: from the records of its start to the exit that is told.
#pragma once

#include <memory>
#include <string>

#include "base/time.h"
#include "runtime/cgroups.h"
#include "runtime/journal.h"
#include "runtime/launch.h"
#include "runtime/log_writer.h"

namespace muster::runtime {

struct ShimRun {
  RecordedRun record;
  Program program;  // for commands beside it: environment, user, directory, groups
  Launched processes;
  std::unique_ptr<LogWriter> log;
  std::string start_text;          // from the start pipe, so far
  std::optional<int> init_status;  // the init has ended and was collected

  bool alive() const { return processes.init > 0 && !init_status; }
};

// Reads what there is. False at the end of the stream.
bool read_output(ShimRun& run, Stream stream);
// Everything that was written before the end, into the log.
void drain_output(ShimRun& run);
// How it ended; its processes are gone and its start pipe was read.
Exit exit_of(const ShimRun& run, Time now);

// The start pipe's text (program.h).
bool read_start(const UniqueFd& pipe, std::string& text);  // false at its end
bool was_held(const std::string& start_text);
bool was_executed(const std::string& start_text);  // if it is complete
std::optional<std::string> start_error_in(const std::string& start_text);

int exit_code(int wait_status);  // 128 + signal if it was killed

}  // namespace muster::runtime
