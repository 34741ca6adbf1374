// Value to JSON text: compact, in member order, numbers and escapes as Go's encoding/json writes them
// with HTML escaping off... see write.cc for the one exception.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace muster::json {

std::string write(Value value);
void write(std::string& out, Value value);
std::string write_pretty(Value value, int indent = 2);
void write_string(std::string& out, std::string_view text);  // quoted and escaped

}  // namespace muster::json
