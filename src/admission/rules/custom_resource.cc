#include "admission/rules/custom_resource.h"

#include "admission/rules/edit.h"
#include "admission/rules/metadata.h"
#include "api/decode/decode.h"

namespace muster::admission {

void validate_custom_create(const Context& context, const Kind& kind, Value object,
                            FieldErrors& errors) {
  validate_metadata(context, kind, object, errors);
  const bool shaped = api::validate_schema(object, *context.resource->schema, errors);
  if (shaped && kind.validate) kind.validate(context, object, errors);
  if (errors.empty() && kind.admit_create) kind.admit_create(context, object, errors);
}

void validate_custom_update(const Context& context, const Kind& kind, Value object, Value old,
                            FieldErrors& errors) {
  validate_metadata_update(object, old, errors);
  const bool shaped = api::validate_schema(object, *context.resource->schema, errors);
  if (shaped && kind.validate) kind.validate(context, object, errors);
  if (shaped && kind.validate_update) kind.validate_update(context, object, old, errors);
  if (!errors.empty()) return;
  const bool main = context.subresource.empty();
  const auto admit = main ? kind.admit_update : kind.admit_subresource;
  if (admit) {
    admit(context, object, old, errors);
  } else if (main && kind.admit_create) {
    kind.admit_create(context, object, errors);
  }
}

void rule_broken(FieldErrors& errors, const Path& path, std::string_view message) {
  errors.add("FieldValueInvalid", path, "Invalid value: " + std::string(message));
}

void require_same(FieldErrors& errors, const Path& path, Value now, Value before,
                  std::string_view message) {
  if (now.is_null() || before.is_null() || json::equal(now, before)) return;
  rule_broken(errors, path, message);
}

}  // namespace muster::admission
