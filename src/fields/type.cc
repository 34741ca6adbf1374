#include "fields/type.h"

#include <fmt/format.h>

namespace muster::fields {
namespace {

using api::ListType;
using api::Schema;
using api::Shape;
using json::Value;

Treatment list_treatment(const Schema& list) {
  if (list.has_list_type) {
    switch (list.list_type) {
      case ListType::kAtomic:
        return Treatment::kLeaf;
      case ListType::kSet:
        return Treatment::kSet;
      case ListType::kMap:
        return Treatment::kMapList;
    }
  }
  if (!list.merges()) return Treatment::kLeaf;
  return list.patch_merge_key.empty() ? Treatment::kSet : Treatment::kMapList;
}

std::span<const std::string> keys_of(const Schema& list) {
  if (list.has_list_type) return list.list_keys;
  return {&list.patch_merge_key, 1};
}

std::string quoted_list(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : " ", name);
  return text;
}

std::unexpected<Error> no_element(std::string message) {
  return fail(Code::kUntranslated, std::move(message));
}

const Value* default_of(const Schema* item_type, std::string_view key) {
  const api::Field* const field = item_type == nullptr ? nullptr : item_type->field(key);
  return field == nullptr || !field->default_value ? nullptr : &*field->default_value;
}

Result<PathElement> set_element(Value item) {
  if (item.is_object())
    return no_element("associative list without keys has an element that's a map type");
  if (item.is_array()) return no_element("not supported: associative list with lists as elements");
  if (item.is_null())
    return no_element("associative list without keys has an element that's an explicit null");
  return PathElement::item(item);
}

Result<PathElement> map_list_element(json::Arena& arena, const Schema& list, Value item) {
  if (item.is_null()) return no_element("associative list with keys may not have a null element");
  if (!item.is_object())
    return no_element("associative list with keys may not have non-map elements");
  const std::span<const std::string> keys = keys_of(list);
  const Value found = Value::object(arena, keys.size());
  bool sorted = true;
  for (const std::string& key : keys) {
    const Value* value = item.find(key);
    if (value == nullptr) value = default_of(list.elem, key);
    if (value == nullptr) continue;
    sorted = sorted && (found.empty() || found.members().back().key < key);
    found.append(key, *value);  // the name lies in the schema, which lives as long as the process
  }
  if (found.empty()) {
    return no_element(
        fmt::format("associative list with keys has an element that omits all key fields [{}] (and "
                    "doesn't have "
                    "default values for any key fields)",
                    quoted_list(keys)));
  }
  if (!sorted) found.sort_keys();
  return PathElement::key(found);
}

}  // namespace

Treatment treatment(const Schema* type) {
  if (type == nullptr) return Treatment::kDeduced;
  switch (type->shape) {
    case Shape::kStruct:
      return type->atomic_map ? Treatment::kLeaf : Treatment::kStruct;
    case Shape::kMap:
      return type->atomic_map ? Treatment::kLeaf : Treatment::kMap;
    case Shape::kList:
      return list_treatment(*type);
    case Shape::kAny:
    case Shape::kFieldsV1:
      return Treatment::kDeduced;
    default:
      return Treatment::kLeaf;
  }
}

MemberType member_type(const Schema* parent, std::string_view name) {
  if (parent == nullptr) return {};
  if (parent->shape == Shape::kMap) return {.type = parent->elem};
  if (parent->shape != Shape::kStruct) return {};
  if (const api::Field* const field = parent->field(name))
    return {.type = field->schema, .declared = true};
  // An object type that declares nothing is open.
  return {.allowed = parent->preserve_unknown || parent->fields.empty()};
}

Result<PathElement> item_element(json::Arena& arena, const Schema& list, Value item) {
  return treatment(&list) == Treatment::kSet ? set_element(item)
                                             : map_list_element(arena, list, item);
}

Result<std::vector<Item>> items_of(json::Arena& arena, const Schema& list, Value value) {
  std::vector<Item> items;
  items.reserve(value.size());
  for (const Value& item : value.items()) {
    Result<PathElement> element = item_element(arena, list, item);
    if (!element)
      return no_element(fmt::format("element {}: {}", items.size(), element.error().message));
    items.push_back({*element, &item});
  }
  return items;
}

}  // namespace muster::fields
