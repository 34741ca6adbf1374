// Opening a store without a registry: tests and benchmarks name the resources themselves.
#pragma once

#include <memory>
#include <vector>

#include "store/draft.h"
#include "store/store.h"

namespace muster::store {

// The place of a name in the list is its resource's id. `rule`: what the texts on disk must be; the
// tests have texts of their own.
Result<std::unique_ptr<Store>> open_store(std::unique_ptr<Durability> disk,
                                          std::vector<ResourceName> names, const Clock& clock,
                                          Metrics& metrics, const Options& options = {},
                                          RecordRule rule = nullptr);

}  // namespace muster::store
