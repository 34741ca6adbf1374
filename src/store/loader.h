// Builds the state and the history of a store from the records on disk.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/draft.h"
#include "store/history.h"

namespace muster::store {

struct LoadedStore {
  std::shared_ptr<Newest> newest;
  std::unique_ptr<History> history;
  std::size_t live_bytes = 0;
};

// Reads everything that `disk` has; fails if a record of these resources has a fault by `rule` (may
// be null), and names the first.
// Events that come from disk count as having happened `now`.
Result<LoadedStore> load_store(Durability& disk, const std::vector<ResourceName>& names, Time now,
                               const Options& options, RecordRule rule);

}  // namespace muster::store
