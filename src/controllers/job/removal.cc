#include "controllers/job/removal.h"

#include <algorithm>
#include <array>

namespace muster::controllers::job {
namespace {

using api::PodPhase;
using Pods = std::vector<const Pod*>;

int phase_rank(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return 0;
    case PodPhase::kUnknown:
      return 1;
    default:
      return 2;
  }
}

// Negative, zero or positive, as for sorting in ascending order.
int compare_ready_since(const Pod& a, const Pod& b) {
  if (!a.ready || a.ready_since == b.ready_since) return 0;
  if (!a.ready_since || !b.ready_since)
    return a.ready_since ? 1 : -1;  // unknown counts as just now
  return *a.ready_since > *b.ready_since ? -1 : 1;
}

int compare(const Pod& a, const Pod& b) {
  const std::array<std::int64_t, 6> ranks = {
      a.assigned - b.assigned,
      phase_rank(a.phase) - phase_rank(b.phase),
      a.ready - b.ready,
      compare_ready_since(a, b),
      std::int64_t{b.worst_restarts} - a.worst_restarts,
      std::int64_t{b.worst_sidecar_restarts} - a.worst_sidecar_restarts,
  };
  for (const std::int64_t rank : ranks) {
    if (rank != 0) return rank < 0 ? -1 : 1;
  }
  if (a.created != b.created) return a.created > b.created ? -1 : 1;
  return a.ref.name.compare(b.ref.name);  // only so that the choice is always the same
}

// Moves pods that an Indexed Job cannot use from `pods` to the result. Equal indexes stand
// together.
Pods take_unusable(const Job& job, Pods& pods) {
  std::ranges::stable_sort(pods, [](const Pod* a, const Pod* b) {
    return a->index != b->index ? a->index < b->index : goes_first(*a, *b);
  });
  Pods unusable, usable;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const bool better_follows = i + 1 < pods.size() && pods[i + 1]->index == pods[i]->index;
    const bool useless = !job.has_index(pods[i]->index) || better_follows;
    (useless ? unusable : usable).push_back(pods[i]);
  }
  pods = std::move(usable);
  return unusable;
}

}  // namespace

bool goes_first(const Pod& a, const Pod& b) { return compare(a, b) < 0; }

std::vector<const Pod*> choose_removed(const Job& job, std::vector<const Pod*> active,
                                       std::size_t count) {
  Pods removed;
  if (job.is_indexed()) removed = take_unusable(job, active);
  if (removed.size() >= count) return removed;
  std::ranges::sort(active, [](const Pod* a, const Pod* b) { return goes_first(*a, *b); });
  const std::size_t more = std::min(count - removed.size(), active.size());
  removed.insert(removed.end(), active.begin(), active.begin() + static_cast<std::ptrdiff_t>(more));
  return removed;
}

}  // namespace muster::controllers::job
