// Validation of custom resources in upstream's order: metadata and schema together, then the CEL
// rules (as C++, by kind), and only if all of that finds nothing the validating webhooks.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

void validate_custom_create(const Context& context, const Kind& kind, Value object,
                            FieldErrors& errors);
// `errors` holds what is wrong with the metadata already.
void validate_custom_update(const Context& context, const Kind& kind, Value object, Value old,
                            FieldErrors& errors);

// A CEL rule that does not hold: upstream prints no value.
void rule_broken(FieldErrors& errors, const Path& path, std::string_view message);
// A transition rule `self == oldSelf`: looks only if the field is there before and after.
void require_same(FieldErrors& errors, const Path& path, Value now, Value before,
                  std::string_view message);

}  // namespace muster::admission
