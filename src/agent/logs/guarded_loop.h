// The way to a loop for those who may outlive what they talk to there.
#pragma once

#include <mutex>
#include <utility>

#include "base/loop.h"

namespace muster::agent {

// Held by both sides. A task that is posted after shut(), or has not run by then, is dropped.
class GuardedLoop : public std::enable_shared_from_this<GuardedLoop> {
 public:
  explicit GuardedLoop(Loop& loop) : loop_(&loop) {}

  void post(Task task) {  // from any thread
    const std::lock_guard lock(mutex_);
    if (loop_ == nullptr) return;
    loop_->post([self = shared_from_this(), task = std::move(task)]() mutable {
      if (self->is_open()) task();
    });
  }
  void shut() {  // on the loop, or when it does not run any more
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }
  bool is_open() {
    const std::lock_guard lock(mutex_);
    return loop_ != nullptr;
  }

 private:
  std::mutex mutex_;
  Loop* loop_;
};

}  // namespace muster::agent
