// Values as Go's fmt package prints them: some messages of server-side apply quote them so.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace muster::fields {

std::string go_plain(json::Value value);           // %v: map[a:1 b:x], [1 a true <nil>]
std::string go_syntax(json::Value value);          // %#v: map[string]interface {}{"a":1}
std::string_view go_type_name(json::Value value);  // %T: map[string]interface {}

}  // namespace muster::fields
