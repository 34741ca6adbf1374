#include "admission/webhook.h"

#include "admission/jobset/jobset_pod.h"
#include "admission/kind.h"
#include "admission/rules/edit.h"

namespace muster::admission {
namespace {

void admit(const Context& context, const Kind& kind, Value object, Value old, FieldErrors& errors) {
  if (context.operation == Operation::kCreate || kind.admit_update == nullptr) {
    if (kind.admit_create) kind.admit_create(context, object, errors);
  } else {
    kind.admit_update(context, object, old, errors);
  }
}

}  // namespace

Status mutate_by_webhook(const Context& context, Value object, Value old) {
  if (!context.resource->custom) return mutate_jobset_pod(context, object);
  const Kind& kind = kind_of(*context.resource);
  if (kind.apply_defaults) kind.apply_defaults(context, object);
  return kind.mutate ? kind.mutate(context, object, old) : Status();
}

Status validate_by_webhook(const Context& context, Value object, Value old) {
  if (!context.resource->custom) return check_jobset_pod(context, object);
  FieldErrors errors;
  admit(context, kind_of(*context.resource), object, old, errors);
  if (errors.empty()) return {};
  return std::unexpected(
      errors.to_error(*context.resource, text_of(object.get("metadata"), "name")));
}

}  // namespace muster::admission
