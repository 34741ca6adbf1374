// Silences the log while a test makes trouble by the thousand.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace muster::store::testing {

class QuietLog {
 public:
  QuietLog() : saved_(dup(STDERR_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  ~QuietLog() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  QuietLog(const QuietLog&) = delete;

 private:
  int saved_;
};

}  // namespace muster::store::testing
