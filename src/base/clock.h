// The time, as something that is passed in. Only clock.cc reads the system's clock.
#pragma once

#include "base/time.h"

namespace muster {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;  // callable from any thread
};

// The system's clock.
const Clock& real_clock();

// Time since some point in the past: for measuring, not for telling. It never jumps, whoever sets
// the system's clock, and goes on while the machine sleeps: a lease does not wait for us.
Duration monotonic_now();

// Stands still until it is told otherwise.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start) : now_(start) {}
  Time now() const override { return now_; }
  void advance(Duration by) { now_ += by; }

 private:
  Time now_;
};

}  // namespace muster
