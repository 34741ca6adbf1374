// What JobSet's webhooks do to the pods of a JobSet (spec: jobset 2.4 to 2.6).
#pragma once

#include "admission/kind.h"

namespace muster::admission {

// Pods of a JobSet carry their priority as a label. Exclusive placement (affinity of leaders, node
// selector of followers) belongs here too and is not there yet: the scheduler does not know
// affinity.
Status admit_jobset_pod(const Context& context, Value pod);

}  // namespace muster::admission
