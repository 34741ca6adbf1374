// SIGTERM, SIGINT and SIGHUP as events of a loop; the last two unless we were started with them
// ignored.
#pragma once

#include <functional>

#include "base/loop.h"

namespace muster::cli {

class Signals {
 public:
  // Blocks the signals for every thread that is started later; so create it before any.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;

  // The loop is not touched again when the Signals go: it may be gone before.
  void on_signal(Loop& loop, std::function<void(int number)> handler);

 private:
  int fd_;
};

}  // namespace muster::cli
