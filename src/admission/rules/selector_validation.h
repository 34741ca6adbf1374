// Label selectors, as objects: {matchLabels, matchExpressions}.
#pragma once

#include "api/values/field_error.h"
#include "json/value.h"

namespace muster::admission {

void validate_label_selector(json::Value selector, const api::Path& path, api::FieldErrors& errors);
// Parts of a requirement {key, operator, values}, shared with those of nodes.
// False if the operator is none of In, NotIn, Exists and DoesNotExist: nothing has been said then.
bool validate_set_operator(json::Value requirement, const api::Path& path,
                           api::FieldErrors& errors);
void invalid_operator(json::Value requirement, const api::Path& path, api::FieldErrors& errors);
// A key of labels or taints, at a path of its own.
void validate_label_name(std::string_view name, const api::Path& path, api::FieldErrors& errors);
bool selects(json::Value selector, json::Value labels);

}  // namespace muster::admission
