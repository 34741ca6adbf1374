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

// Dates and times of day (2026-01-31T10:00:00Z), and numbers to the base of sixty (10:30): kubectl
// reads them as strings, but other readers of YAML 1.1 do not.
bool looks_like_timestamp(std::string_view text);
bool looks_like_sexagesimal(std::string_view text);

}  // namespace muster::json
