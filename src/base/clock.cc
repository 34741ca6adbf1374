#include "base/clock.h"

#include <ctime>

#include "base/result.h"

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
  timespec now{};
  const int failed = clock_gettime(CLOCK_BOOTTIME, &now);
  MUSTER_ASSERT(failed == 0, "the system has a clock that counts since its start");
  return std::chrono::floor<Duration>(std::chrono::seconds(now.tv_sec) +
                                      std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace muster
