// What queueing asks of Jobs and JobSets when they are written (spec: queueing 1.10, 4.1).
#pragma once

#include "admission/kind.h"

namespace muster::admission {

inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

// A job that belongs to a queue starts suspended: whoever gives quota resumes it. A namespace with
// a LocalQueue named "default" queues every job.
Status queue_on_create(const Context& context, Value job, Value old);

void validate_queued_create(const Context& context, Value job, FieldErrors& errors);
void validate_queued_update(const Context& context, Value job, Value old, FieldErrors& errors);

}  // namespace muster::admission
