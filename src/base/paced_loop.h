// Keeps the rounds of a loop apart: a round that would begin sooner after the one before than the
// gap waits for the rest of it. Whoever comes after a quiet time is served at once; many who come
// together share a round, which saves the processor a wake-up for each of them.
#pragma once

#include <thread>

#include "base/loop.h"

namespace muster {

class MinimumGap {
 public:
  explicit MinimumGap(Duration gap) : gap_(gap) {}  // zero: never pauses

  // Before the loop waits for the next round.
  void pause() {
    if (gap_ == Duration::zero()) return;
    const Duration left = last_ + gap_ - monotonic_now();
    if (left > Duration::zero()) std::this_thread::sleep_for(left);
    last_ = monotonic_now();
  }

 private:
  const Duration gap_;
  Duration last_ = Duration::min() / 2;
};

// A real loop (make_real_loop()) that keeps its rounds apart.
std::unique_ptr<Loop> make_paced_loop(Duration gap);

}  // namespace muster
