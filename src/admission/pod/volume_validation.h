// The volumes of a pod.
#pragma once

#include "admission/rules/checks.h"

namespace muster::admission {

// Returns the list of those volumes that are sound.
Value validate_volumes(Value volumes, const Path& path, FieldErrors& errors);

// The spec of a claim: of a PersistentVolumeClaim or of an ephemeral volume.
void validate_claim_spec(Value spec, const Path& path, FieldErrors& errors);

}  // namespace muster::admission
