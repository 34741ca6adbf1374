// Deleting one object, as a plan that other requests (evictions, collections) can be built from.
// Internal to server/.
#pragma once

#include <functional>
#include <string>

#include "server/canonical.h"
#include "server/deletion.h"
#include "server/object_write.h"

namespace muster::server {

struct DeleteTarget {
  std::string ns;
  std::string name;
  std::function<void(json::Value object)> edit;  // a further change in the same write; may be empty
};

// `resource` outlives the plan.
Result<Outcome> plan_delete(Attempt& attempt, const api::Resource& resource,
                            const DeleteTarget& target, const DeleteOptions& options);

}  // namespace muster::server
