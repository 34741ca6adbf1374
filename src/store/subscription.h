// A reader of one or several watch logs: their events as one sequence in the order of revisions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "store/watch_log.h"

namespace muster::store {

// kExpired if a log no longer has what came after `after`.
Result<std::unique_ptr<Subscription>> subscribe(std::vector<std::shared_ptr<WatchLog>> logs,
                                                std::shared_ptr<const Newest> newest,
                                                Revision after, std::function<void()> wake);

}  // namespace muster::store
