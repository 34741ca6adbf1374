// Values as Go's fmt prints them with %v ("map[image:x ports:[80 443]]"): some messages of
// kube-apiserver carry such text.
#pragma once

#include <string>

#include "json/value.h"

namespace muster::json {

std::string go_text(Value value);
// The Go type that a decoded value has: "string", "int64", "map[string]interface {}".
std::string_view go_type(Value value);

}  // namespace muster::json
