// How pods wait at a barrier: the container that is injected into the pod template of a child Job,
// its volume, and the annotations that say the same to the embedded node agent.
#pragma once

#include "api/views/views.h"
#include "controllers/runtime/barrier_program.h"
#include "json/value.h"

namespace muster::controllers::jobset {

// Makes the pods of a template wait. The set must have a barrier.
void hold_at_barrier(json::Value pod_template, const api::JobSet& set, std::int32_t attempt,
                     const BarrierProgram& program);

}  // namespace muster::controllers::jobset
