// Starts programs on other pods of the same machine and user, in place of ssh: `muster tool
// mpi-worker` waits in each pod, `muster tool mpirun` and `muster tool mpi-rsh` ask it.
//
// A worker runs what it is asked only for processes of its own user, which it finds out from the
// kernel (sockets.h): no other user of the machine can use it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::cli {

inline constexpr std::string_view kLaunchPort = "7300";

// Serves at this pod's own name until a signal ends it.
Status serve_launches(const std::string& host);

struct Launch {
  std::string host;
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value, besides the worker's own
};

// Runs it there and tells its output as it comes; its exit code. Its processes end with the
// connection.
Result<int> launch(const Launch& launch,
                   const std::function<void(bool is_error, std::string_view bytes)>& output);

// "host slots=2" lines: one entry per slot. Pure.
Result<std::vector<std::string>> slots_of(std::string_view host_file);

// As mpirun would: one process per slot, ranks in their environment, lines behind the rank. The
// worst exit code.
Result<int> launch_ranks(const std::vector<std::string>& slots,
                         const std::vector<std::string>& command);

}  // namespace muster::cli
