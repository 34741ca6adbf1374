// The rows of all kinds that have one. Each is defined in the file of its kind.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

extern const Kind kConfigMap, kNamespace, kPod, kSecret;
extern const Kind kJob;
extern const Kind kJobSet;

}  // namespace muster::admission
