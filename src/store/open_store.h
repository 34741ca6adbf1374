// Opening a store without a registry: tests and benchmarks name the resources themselves.
#pragma once

#include <memory>
#include <vector>

#include "store/draft.h"
#include "store/store.h"

namespace muster::store {

// The place of a name in the list is its resource's id.
Result<std::unique_ptr<Store>> open_store(std::unique_ptr<Durability> disk,
                                          std::vector<ResourceName> names, const Clock& clock,
                                          Metrics& metrics, const Options& options = {});

}  // namespace muster::store
