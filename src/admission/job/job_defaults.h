// Defaults and generated fields of a batch/v1 Job (spec: job 1.1, 1.2).
#pragma once

#include "admission/kind.h"

namespace muster::admission {

void default_job(const Context& context, Value job);
// Selector and the four labels that tie pods to their Job. The uid must be set.
void prepare_job_create(const Context& context, Value job);

}  // namespace muster::admission
