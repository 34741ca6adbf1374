// How endpoints are laid into slices: as few writes as possible first, few slices second (spec: job
// 3.6). Knows nothing of objects and servers.
#pragma once

#include <cstddef>
#include <vector>

#include "controllers/endpoints/views.h"

namespace muster::controllers::endpoints {

inline constexpr std::size_t kMaxPerSlice = 100;

// One slice as it shall be.
struct Packed {
  const Slice* slice = nullptr;  // null: a new one
  std::vector<Endpoint> endpoints;
};

struct Packing {
  std::vector<Packed> changed;          // existing ones with other endpoints, and new ones
  std::vector<const Slice*> unchanged;  // in what they hold
  std::vector<const Slice*> emptied;    // nothing of what they held is wanted
};

// `existing` hold endpoints of one kind (address type and ports), `wanted` are all of that kind.
Packing pack(const std::vector<const Slice*>& existing, std::vector<Endpoint> wanted);

}  // namespace muster::controllers::endpoints
