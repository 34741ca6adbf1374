#include "base/clock.h"

namespace muster {
namespace {

class RealClock final : public Clock {
 public:
  Time now() const override {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
  }
};

}  // namespace

const Clock& real_clock() {
  static const RealClock clock;
  return clock;
}

Duration monotonic_now() {
  return std::chrono::floor<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace muster
