// How a volume claim gets its volume where the local agent keeps the data: at once, because a
// claim is only a folder there. The agent makes that folder when a pod needs it and removes it when
// the claim is gone (docs/volumes.md). Pure.
#pragma once

#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::claims {

// Claims of this class, or of none, are ours.
inline constexpr std::string_view kClass = "muster";

struct UnboundClaim {
  ObjectRef ref;
  std::string storage_class;
  std::string volume;
  std::string phase;
  bool deleting = false;
  std::vector<std::string> access_modes;
  std::string storage;  // the amount that it asks for

  std::string own_volume() const { return "pvc-" + ref.uid; }
};

UnboundClaim read_unbound_claim(json::Value claim);

// First the name of the volume, then, when that is to be seen, the phase: as everywhere, a claim is
// not Bound before it says to what.
Plan bind(const api::Resource& claims, const UnboundClaim& claim);

}  // namespace muster::controllers::claims
