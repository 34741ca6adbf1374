// Validation of pods and of everything that holds a pod's spec.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

// Rows of the Pod. Metadata is validated by the caller.
void validate_pod(const Context& context, Value pod, FieldErrors& errors);
void validate_pod_update(const Context& context, Value pod, Value old, FieldErrors& errors);
void validate_pod_subresource(const Context& context, Value pod, Value old, FieldErrors& errors);

// {metadata, spec} of a Job, Deployment …
void validate_pod_template(Value pod_template, const Path& path, FieldErrors& errors);
// Faults of labels and annotations show at `labels` and `annotations` beside `spec`.
void validate_pod_spec(Value spec, const Path& path, FieldErrors& errors);

}  // namespace muster::admission
