// A loop that runs on a thread of its own.
#pragma once

#include <memory>
#include <thread>

#include "base/loop.h"
#include "base/result.h"

namespace muster {

class LoopThread {
 public:
  LoopThread();
  ~LoopThread();
  LoopThread(const LoopThread&) = delete;

  Status start();  // once; until then tasks wait
  // Returns when the task at hand has ended. Tasks that are left never run; they are destroyed with
  // this object.
  void stop();

  Loop& loop() { return *loop_; }

 private:
  const std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace muster
