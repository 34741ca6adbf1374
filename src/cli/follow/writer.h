// Writes to a descriptor on a thread of its own: who reads slowly, or not at all, holds up nobody
// else. Used on one loop, which hears what becomes of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/loop.h"

namespace muster::cli {

class Writer {
 public:
  // From here on callers are asked to wait. Less than a log file (10 MiB): who is further behind
  // than such a file misses what is rotated away.
  static constexpr std::size_t kFull = 8u << 20;
  // What comes nevertheless is left out from here on.
  static constexpr std::size_t kMost = 4 * kFull;

  // All are called on the loop, and not after the Writer has gone; each may be empty.
  struct Events {
    std::function<void()> room;                    // it was full, and is half empty by now
    std::function<void(int error_number)> failed;  // once; nothing is written from then on
  };

  Writer(Loop& loop, int descriptor, Events events);
  ~Writer();  // what has not been written by now never will be; does not wait for the reader
  Writer(const Writer&) = delete;

  void write(std::string text);
  bool is_full() const { return unwritten() >= kFull; }
  std::size_t unwritten() const;  // bytes
  // Called when all is written or there is no use in trying, after failed(); never at once.
  void when_written(std::function<void()> task);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // the thread's too: it may be stuck in the kernel
  std::thread thread_;
};

}  // namespace muster::cli
