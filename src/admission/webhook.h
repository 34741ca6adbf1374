// What a real API server asks its admission webhooks: the part of the rules that it does not know
// itself. Namespaces, schemas and metadata are its own business.
//
// For custom resources and for the pods of JobSets.
#pragma once

#include "admission/admission.h"

namespace muster::admission {

// `old` is null on create.
Status mutate_by_webhook(const Context& context, json::Value object, json::Value old);

// 422 with all faults of a custom resource at once; 403 for a pod.
Status validate_by_webhook(const Context& context, json::Value object, json::Value old);

}  // namespace muster::admission
