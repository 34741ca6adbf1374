// The batch/v1 Job: its row.
#include "admission/job/job_defaults.h"
#include "admission/job/job_validation.h"
#include "admission/kinds.h"
#include "admission/kueue/kueue_job.h"

namespace muster::admission {
namespace {

void validate_with_queue(const Context& context, Value job, FieldErrors& errors) {
  validate_job(context, job, errors);
  if (context.operation == Operation::kCreate) validate_queued_create(context, job, errors);
}

void validate_update_with_queue(const Context& context, Value job, Value old, FieldErrors& errors) {
  validate_job_update(context, job, old, errors);
  validate_queued_update(context, job, old, errors);
}

void validate_subresource(const Context&, Value job, Value old, FieldErrors& errors) {
  validate_job_status_update(job, old, errors);
}

}  // namespace

constinit const Kind kJob = {
    .group = "batch",
    .name = "Job",
    .apply_defaults = default_job,
    .mutate = queue_on_create,
    .prepare_create = prepare_job_create,
    .validate = validate_with_queue,
    .validate_update = validate_update_with_queue,
    .validate_subresource = validate_subresource,
};

}  // namespace muster::admission
