#include "controllers/endpoints/packing.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

namespace muster::controllers::endpoints {
namespace {

struct ByIdentity {
  bool operator()(const Endpoint& a, const Endpoint& b) const {
    return a.identity() < b.identity();
  }
};
using Waiting = std::set<Endpoint, ByIdentity>;

// What stays of a slice, refreshed; taken out of what waits for a place.
std::vector<Endpoint> keep(const Slice& slice, Waiting& waiting) {
  std::vector<Endpoint> kept;
  for (const Endpoint& endpoint : slice.endpoints) {
    if (auto node = waiting.extract(endpoint); !node.empty())
      kept.push_back(std::move(node.value()));
  }
  return kept;
}

void fill(std::vector<Endpoint>& endpoints, Waiting& waiting) {
  while (endpoints.size() < kMaxPerSlice && !waiting.empty())
    endpoints.push_back(std::move(waiting.extract(waiting.begin()).value()));
}

// The fullest slice that takes all that is left; the end if there is none.
auto best_fit(std::vector<const Slice*>& slices, std::size_t left) {
  auto best = slices.end();
  for (auto at = slices.begin(); at != slices.end(); ++at) {
    const std::size_t size = (*at)->endpoints.size();
    if (size + left > kMaxPerSlice) continue;
    if (best == slices.end() || size > (*best)->endpoints.size()) best = at;
  }
  return best;
}

}  // namespace

Packing pack(const std::vector<const Slice*>& existing, std::vector<Endpoint> wanted) {
  Waiting waiting(std::make_move_iterator(wanted.begin()), std::make_move_iterator(wanted.end()));
  Packing packing;
  for (const Slice* slice : existing) {
    std::vector<Endpoint> kept = keep(*slice, waiting);
    if (kept == slice->endpoints) {
      packing.unchanged.push_back(slice);
    } else if (kept.empty()) {
      packing.emptied.push_back(slice);
    } else {
      packing.changed.push_back({slice, std::move(kept)});
    }
  }
  // They are written anyhow: fullest first.
  std::ranges::stable_sort(packing.changed, std::greater(),
                           [](const Packed& each) { return each.endpoints.size(); });
  for (Packed& each : packing.changed) fill(each.endpoints, waiting);
  while (!waiting.empty()) {
    Packed next;
    if (const auto at = best_fit(packing.unchanged, waiting.size());
        at != packing.unchanged.end()) {
      next = {*at, (*at)->endpoints};
      packing.unchanged.erase(at);
    }
    fill(next.endpoints, waiting);
    packing.changed.push_back(std::move(next));
  }
  return packing;
}

}  // namespace muster::controllers::endpoints
