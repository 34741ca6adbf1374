// The JobSet: its row.
#include "admission/jobset/jobset.h"

#include "admission/kinds.h"

namespace muster::admission {

constinit const Kind kJobSet = {
    .group = "jobset.x-k8s.io",
    .name = "JobSet",
    .mutate = mutate_jobset,
    .validate = validate_jobset_rules,
    .validate_update = validate_jobset_transitions,
    .admit_create = admit_jobset_create,
    .admit_update = admit_jobset_update,
};

}  // namespace muster::admission
