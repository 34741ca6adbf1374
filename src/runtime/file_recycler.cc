#include "runtime/file_recycler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/unique_fd.h"

namespace muster::runtime {
namespace {

// Who had a file may have handed it to somebody who still has it, and would see and write what its
// next owner does. The kernel gives this lease only for a file that is open nowhere else.
bool is_nobody_elses(const UniqueFd& file) {
  return fcntl(file.get(), F_SETLEASE, F_WRLCK) == 0 && fcntl(file.get(), F_SETLEASE, F_UNLCK) == 0;
}

}  // namespace

FileRecycler::FileRecycler(std::string folder) : folder_(std::move(folder)) {
  while (count_ < kMost && access(name(count_).c_str(), F_OK) == 0) ++count_;
}

std::string FileRecycler::name(std::size_t number) const {
  return fmt::format("{}/{}.spare", folder_, number);
}

void FileRecycler::keep(const std::string& file) {
  const UniqueFd open(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool kept = count_ < kMost && is_nobody_elses(open) && ftruncate(open.get(), 0) == 0 &&
                    rename(file.c_str(), name(count_).c_str()) == 0;
  if (kept) {
    ++count_;
  } else {
    unlink(file.c_str());
  }
}

void FileRecycler::use_for(const std::string& file) {
  if (count_ == 0) return;
  --count_;
  // Fails without harm: a new file is made then.
  [[maybe_unused]] const int renamed = rename(name(count_).c_str(), file.c_str());
}

}  // namespace muster::runtime
