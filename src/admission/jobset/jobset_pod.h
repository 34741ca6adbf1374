// What JobSet's webhooks do to the pods of a JobSet (spec: jobset 2.4 to 2.6): exclusive placement.
// The first pod of a Job, its leader, finds a place that it shares with no other Job; the others
// follow it there. And the ranks of pods, where the JobSet asked for them (docs/barrier.md).
#pragma once

#include "admission/kind.h"

namespace muster::admission {

// A pod whose Job has a first rank (muster.dev/rank-offset) gets its own one (muster.dev/rank).
// Pods of a JobSet carry their priority as a label. A leader gets its affinity; a follower whose
// leader is bound gets the leader's place, any other stays as it is and is refused by the check.
Status mutate_jobset_pod(const Context& context, Value pod);

// Refuses (403) a follower that has no place to go to yet: whoever creates it tries again.
Status check_jobset_pod(const Context& context, Value pod);

}  // namespace muster::admission
