#include "controllers/job/backoff.h"

#include <algorithm>
#include <vector>

#include "base/retry_delay.h"

namespace muster::controllers::job {
namespace {

constexpr Duration kFirstDelay = std::chrono::seconds(10);
constexpr Duration kLongestDelay = std::chrono::minutes(10);

// When each of those ended that are news to the record.
std::vector<Time> new_ends(const BackoffRecord& before, std::span<const Pod* const> pods) {
  std::vector<Time> ends;
  for (const Pod* pod : pods) {
    if (!before.seen.contains(pod->ref.uid)) ends.push_back(pod->finished);
  }
  std::ranges::sort(ends);
  return ends;
}

}  // namespace

BackoffRecord updated(const BackoffRecord& before, std::span<const Pod* const> succeeded,
                      std::span<const Pod* const> failed) {
  const std::vector<Time> successes = new_ends(before, succeeded);
  std::vector<Time> failures = new_ends(before, failed);
  BackoffRecord after{.failures = before.failures, .last_failure = before.last_failure};
  for (const auto pods : {succeeded, failed}) {
    for (const Pod* pod : pods) after.seen.insert(pod->ref.uid);
  }
  if (!successes.empty()) {
    after.failures = 0;
    after.last_failure.reset();
    std::erase_if(failures, [&](Time end) { return end <= successes.back(); });
  }
  after.failures += static_cast<std::int64_t>(failures.size());
  if (!failures.empty()) after.last_failure = failures.back();
  return after;
}

Duration remaining_delay(std::int64_t failures, Time last_failure, Time now) {
  constexpr std::int64_t kMaxDoublings = 16;  // far past the longest delay
  if (failures <= 0) return Duration::zero();
  const Duration delay = retry_delay(kFirstDelay, kLongestDelay,
                                     static_cast<int>(std::min(failures - 1, kMaxDoublings)));
  return std::max(Duration::zero(), delay - (now - last_failure));
}

Duration remaining_delay(const BackoffRecord& record, Time now) {
  if (!record.last_failure) return Duration::zero();
  return remaining_delay(record.failures, *record.last_failure, now);
}

}  // namespace muster::controllers::job
