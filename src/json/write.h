// Value to JSON text: compact, in member order, byte for byte what Go's encoding/json writes. That
// includes its escapes of <, >, & and U+2028/2029, which kube-apiserver sends too, and U+FFFD in
// place of bytes that are not UTF-8: the text is always valid JSON in UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace muster::json {

std::string write(Value value);
void write(std::string& out, Value value);  // appends
std::string write_pretty(Value value, int indent = 2);
void write_string(std::string& out, std::string_view text);  // appends, quoted and escaped
void write_double(std::string& out, double value);           // appends; finite

}  // namespace muster::json
