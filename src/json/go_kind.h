// The names that Go's encoding/json gives to JSON values in its messages.
#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::json {

constexpr std::string_view go_kind(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
  }
  return "";
}

}  // namespace muster::json
