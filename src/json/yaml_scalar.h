// What a plain (unquoted) YAML scalar means to kubectl, which types by the rules of YAML 1.1 as
// go-yaml reads them.
#pragma once

#include <optional>
#include <string_view>

#include "json/value.h"

namespace muster::json {

// A null, bool or number; nothing if the text is a string.
std::optional<Value> resolve_plain_scalar(std::string_view text);

// .inf, -.inf, .nan and so on: numbers that JSON does not have.
bool is_unrepresentable_number(std::string_view text);

}  // namespace muster::json
