// Runs that keep their objects in the same data directory, at the same time. The first starts the
// server that all of them use (it hosts them); that one ends after the last.
//
// Two locks on one file of the directory, which the kernel takes back from who dies: every run
// holds a share of the first; the host holds the second. A host that can turn its share into the
// whole is the last, and nobody joins until its process has ended.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::engine {

class RunShare {
 public:
  // The directory is there. Waits while a host winds up.
  static Result<RunShare> join(const std::string& data_dir);

  bool host();             // true: it is up to us to start the server
  bool has_host() const;   // another run has started it; false: `muster serve`, or nobody
  pid_t host_pid() const;  // of the last one; 0 if it has not said
  bool is_alone() const;   // no other run is here now
  bool close();            // false: others still use the server

 private:
  explicit RunShare(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace muster::engine
