// The order of steps that all kinds share. What is particular to a kind is in its own file
// (kinds.cc lists them), what is particular to metadata in metadata.cc, to status and generation in
// strategy.cc.
#include "admission/admission.h"

#include "admission/cluster/namespace_lifecycle.h"
#include "admission/kind.h"
#include "admission/rules/custom_resource.h"
#include "admission/rules/edit.h"
#include "admission/rules/field_order.h"
#include "admission/rules/metadata.h"
#include "admission/rules/strategy.h"
#include "api/decode/decode.h"

namespace muster::admission {
namespace {

// The metadata of a built-in kind, as the kind itself checks it.
void validate_kind_metadata(const Context& context, const Kind& kind, Value object,
                            FieldErrors& errors) {
  validate_metadata(context, kind, object, errors);
  validate_finalizer_domains(object, errors);
}

// On update built-in kinds check their metadata after it has been checked for all kinds alike:
// clients see the cause of a fault several times, its text once.
void validate_builtin_update(const Context& context, const Kind& kind, Value object, Value old,
                             FieldErrors& errors) {
  const auto judge_object = [&] {
    if (!context.subresource.empty()) return;
    if (!kind.trusts_metadata_on_update) validate_kind_metadata(context, kind, object, errors);
    if (kind.validate) kind.validate(context, object, errors);
  };
  const auto judge_change = [&] {
    validate_metadata_update(object, old, errors);
    validate_finalizer_domains(object, errors);
    const auto validate =
        context.subresource.empty() ? kind.validate_update : kind.validate_subresource;
    if (validate) validate(context, object, old, errors);
  };
  if (kind.judges_changes_first) {
    judge_change();
    judge_object();
  } else {
    judge_object();
    judge_change();
  }
}

}  // namespace

void default_object(const Context& context, Value object) {
  drop_repeated_owners(context, object);
  if (context.resource->custom) api::apply_schema_defaults(object, *context.resource->schema);
  const Kind& kind = kind_of(*context.resource);
  if (kind.apply_defaults) kind.apply_defaults(context, object);
}

Status mutate(const Context& context, Value object, Value old) {
  Context named = context;  // refusals of what has no name yet show the beginning of the name
  if (named.name.empty()) named.name = text_of(object.get("metadata"), "generateName");
  MUSTER_CHECK(check_namespace(named));
  const Kind& kind = kind_of(*context.resource);
  return kind.mutate ? kind.mutate(named, object, old) : Status();
}

void prepare_create(const Context& context, Value object) {
  const Kind& kind = kind_of(*context.resource);
  drop_repeated_owners(context, object);
  if (!kind.keeps_status_on_create) clear_status(context, object);
  if (kind.prepare_create) kind.prepare_create(context, object);
  start_generation(context, object);
  order_fields(object, *context.resource);
}

void prepare_update(const Context& context, Value object, Value old) {
  const Kind& kind = kind_of(*context.resource);
  restore_metadata(object, old);
  if (context.subresource.empty()) {
    keep_status(context, object, old);
    if (kind.prepare_update) kind.prepare_update(context, object, old);
  } else {
    if (context.subresource == "status") keep_all_but_status(context, object, old);
    if (kind.prepare_subresource) kind.prepare_subresource(context, object, old);
  }
  raise_generation(context, kind, object, old);
  order_fields(object, *context.resource);
}

FieldErrors validate_create(const Context& context, Value object) {
  const Kind& kind = kind_of(*context.resource);
  FieldErrors errors;
  if (context.resource->custom) {
    validate_custom_create(context, kind, object, errors);
    return errors;
  }
  validate_kind_metadata(context, kind, object, errors);
  if (kind.validate) kind.validate(context, object, errors);
  return errors;
}

FieldErrors validate_update(const Context& context, Value object, Value old) {
  const Kind& kind = kind_of(*context.resource);
  FieldErrors errors;
  validate_metadata(context, kind, object, errors);
  validate_metadata_update(object, old, errors);
  if (context.resource->custom)
    validate_custom_update(context, kind, object, old, errors);
  else
    validate_builtin_update(context, kind, object, old, errors);
  return errors;
}

}  // namespace muster::admission
