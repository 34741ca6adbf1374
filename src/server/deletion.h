// What a delete does to an object (spec: apimachinery 3.5): whether it goes at once, in a while, or
// when its finalizers let it. Pure; internal to server/.
#pragma once

#include "api/schema/registry.h"
#include "base/time.h"
#include "json/value.h"
#include "server/options.h"

namespace muster::server {

struct Deletion {
  enum class Step : std::uint8_t {
    kNothing,         // it is being deleted already, and this request changes nothing
    kMark,            // stored with a deletion time; it stays
    kMarkThenRemove,  // stored with a deletion time, then removed (pods: watchers see both)
    kRemove,
  };
  Step step = Step::kRemove;
  bool orphans_by_default = false;  // the kind's default left the dependents alone; worth a warning
};

// Sets the deletion fields and the finalizers of the garbage collector on `object`, a tree of the
// live object.
Deletion prepare_deletion(json::Value object, const api::Resource& resource,
                          const DeleteOptions& options, Time now);

}  // namespace muster::server
