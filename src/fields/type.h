// What field ownership makes of a value, by the schema of its place (spec: apimachinery 1.2).
//
// A place is described by a `const api::Schema*`. A null pointer stands for a place without schema,
// where the value itself decides ("deduced"): objects are granular, everything else is a leaf.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"
#include "base/result.h"
#include "fields/path_element.h"
#include "json/value.h"

namespace muster::fields {

enum class Treatment : std::uint8_t {
  kLeaf,     // owned as a whole: scalars, atomic lists, maps and structs
  kStruct,   // field by field
  kMap,      // key by key
  kSet,      // a list whose items are scalars, each owned by itself
  kMapList,  // a list whose items are known by some of their fields
  kDeduced,
};
Treatment treatment(const api::Schema* type);

// The place of a member of a struct, a map or a deduced object.
struct MemberType {
  const api::Schema* type = nullptr;
  bool declared = false;  // a field of a struct, and not a key of a map
  bool allowed = true;    // false: the struct knows no such field
};
MemberType member_type(const api::Schema* parent, std::string_view name);

// The element of an item in a kSet or kMapList. A key field that is missing is replaced by its
// default. Fails in upstream's words if the item has no element.
Result<PathElement> item_element(json::Arena& arena, const api::Schema& list, json::Value item);

// A list's item with its element.
struct Item {
  PathElement element;
  const json::Value* value = nullptr;
};
// Of a kSet or kMapList, in their order. Fails with `element 3: ...`.
Result<std::vector<Item>> items_of(json::Arena& arena, const api::Schema& list, json::Value value);

// A place and whether it belongs to a custom resource. Those have no Go type behind them, which
// matters in diffs.
struct RootType {
  const api::Schema* schema = nullptr;
  bool custom = false;
};

}  // namespace muster::fields
