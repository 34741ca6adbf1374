// Validation of batch/v1 Jobs (spec: job 1.3 to 1.7, 5).
#pragma once

#include "admission/kind.h"

namespace muster::admission {

void validate_job(const Context& context, Value job, FieldErrors& errors);
void validate_job_update(const Context& context, Value job, Value old, FieldErrors& errors);
void validate_job_status_update(Value job, Value old, FieldErrors& errors);

// The parts of a Job's spec that a CronJob's template has as well: all but the selector.
void validate_job_template_spec(Value spec, const Path& path, FieldErrors& errors);

void validate_job_selector(Value spec, const Path& path, FieldErrors& errors);

void validate_pod_failure_policy(Value spec, const Path& path, FieldErrors& errors);
void validate_success_policy(Value spec, const Path& path, FieldErrors& errors);

bool is_indexed(Value job_spec);

}  // namespace muster::admission
