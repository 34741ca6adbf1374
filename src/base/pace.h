// Keeps the rounds of a loop apart: a round that would begin sooner after the one before than the
// gap waits for the rest of it. Whoever comes after a quiet time is served at once; many who come
// together share a round, which saves the processor a wake-up for each of them.
#pragma once

#include <chrono>
#include <thread>

#include "base/loop.h"

namespace muster {

class Pace {
 public:
  explicit Pace(Duration gap) : gap_(gap) {}  // zero: never pauses

  // Before the loop waits for the next round.
  void pause() {
    if (gap_ == Duration::zero()) return;
    std::this_thread::sleep_until(last_ + gap_);
    last_ = std::chrono::steady_clock::now();
  }

 private:
  const Duration gap_;
  std::chrono::steady_clock::time_point last_{};
};

// A real loop (make_real_loop()) that keeps its rounds apart.
std::unique_ptr<Loop> make_paced_loop(Duration gap);

}  // namespace muster
