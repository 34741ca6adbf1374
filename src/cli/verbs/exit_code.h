// The exit codes of every command (docs/cli.md).
#pragma once

namespace muster::cli {

enum ExitCode : int {
  kSucceeded = 0,
  kRefused = 1,      // not found, invalid, denied
  kCannotPlace = 2,  // accepted, but cannot be placed or admitted
  kJobSetFailed = 3,
  kTimedOut = 4,
  kCancelled = 5,
  kUsage = 64,
  kOutputLost = 74,  // standard output could not be written
  kUnreachable = 75,
  kSignal = 128,  // plus the signal's number
};

}  // namespace muster::cli
