#include "controllers/runtime/decision_log.h"

#include <algorithm>
#include <ranges>

namespace muster::controllers {

void DecisionLog::add(Decision decision) {
  // A repetition follows soon or never: no need to search far.
  constexpr std::size_t kNear = 64;
  for (const Decision& earlier : decisions_ | std::views::reverse | std::views::take(kNear)) {
    if (earlier.key != decision.key || earlier.controller != decision.controller) continue;
    if (earlier.plan == decision.plan) return;
    break;
  }
  if (decisions_.size() == kMax) decisions_.pop_front();
  decisions_.push_back(std::move(decision));
}

std::vector<const Decision*> DecisionLog::about(const client::QueueKey& key) const {
  std::vector<const Decision*> found;
  for (const Decision& decision : decisions_) {
    if (decision.key == key) found.push_back(&decision);
  }
  return found;
}

}  // namespace muster::controllers
