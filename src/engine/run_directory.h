// The folder of a run that keeps nothing: gone when the run is over, and swept by the next one if
// its owner was killed.
//
// Its owner holds a lock on it, which the kernel takes back when the process ends however it ends:
// a folder of ours that nobody has locked belongs to nobody.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::engine {

class RunDirectory {
 public:
  // A new one, below `parent`.
  static Result<RunDirectory> make(const std::string& parent);
  RunDirectory(RunDirectory&&) noexcept = default;
  RunDirectory(const RunDirectory&) = delete;
  ~RunDirectory();  // removes it

  const std::string& path() const { return path_; }

 private:
  RunDirectory(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;  // invalid in one that was moved from
};

// Removes what killed runs of this user have left below `parent`; how many folders. Links and
// folders of others are left alone.
int sweep_run_directories(const std::string& parent);

}  // namespace muster::engine
