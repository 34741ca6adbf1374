#include "base/thread_time.h"

#include <ctime>

namespace muster {

Duration thread_time(const Clock& clock) {
  if (&clock != &real_clock()) return Duration::zero();
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::floor<Duration>(std::chrono::seconds(used.tv_sec) +
                                      std::chrono::nanoseconds(used.tv_nsec));
}

}  // namespace muster
