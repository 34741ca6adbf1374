#include "fields/document_set.h"

#include <algorithm>

namespace muster::fields {
namespace {

using api::Schema;
using json::Value;

bool is_nothing(Value value) { return value.is_null() || (value.is_object() && value.empty()); }

class Collector {
 public:
  explicit Collector(json::Arena& arena) : arena_(arena) {}

  // The paths below a value. Tells by `is_leaf` that the value itself is one.
  FieldSet below(const Schema* type, Value value, bool& is_leaf) {
    switch (treatment(type)) {
      case Treatment::kLeaf:
        is_leaf = true;
        return {};
      case Treatment::kSet:
      case Treatment::kMapList:
        return list_items(*type, value);
      case Treatment::kDeduced:
        is_leaf = !value.is_object() && !value.is_null();
        break;
      default:
        break;
    }
    return members(type, value);
  }

 private:
  FieldSet members(const Schema* type, Value value) {
    FieldSet set;
    for (const json::Member& member : value.members()) {
      const MemberType place = member_type(type, member.key);
      bool is_leaf = false;
      FieldSet inner = below(place.type, member.value, is_leaf);
      set.add(PathElement::field(member.key),
              is_leaf || !place.declared || is_nothing(member.value), std::move(inner));
    }
    set.sort();
    return set;
  }

  FieldSet list_items(const Schema& list, Value value) {
    std::vector<Item> items;
    for (const Value& item : value.items()) {
      if (const Result<PathElement> element = item_element(arena_, list, item))
        items.push_back({*element, &item});
    }
    const auto precedes = [](const Item& a, const Item& b) {
      return compare(a.element, b.element) < 0;
    };
    std::ranges::sort(items, precedes);
    FieldSet set;
    for (auto from = items.begin(); from != items.end();) {
      const auto to = std::upper_bound(from, items.end(), *from, precedes);
      bool is_leaf = false;
      set.add(from->element, true,
              to - from > 1 ? FieldSet() : below(list.elem, *from->value, is_leaf));
      from = to;
    }
    return set;
  }

  json::Arena& arena_;
};

const Schema* type_below(const Schema* type, const PathElement& element) {
  if (element.kind == PathElement::Kind::kField) return member_type(type, element.name).type;
  return type == nullptr ? nullptr : type->elem;
}

bool is_atomic_container(const Schema* type) {
  return type != nullptr && treatment(type) == Treatment::kLeaf &&
         (type->shape == api::Shape::kList || type->shape == api::Shape::kMap ||
          type->shape == api::Shape::kStruct);
}

bool is_declared(const Schema* type, const PathElement& element) {
  return element.kind == PathElement::Kind::kField && member_type(type, element.name).declared;
}

}  // namespace

FieldSet set_of_document(json::Arena& arena, const Schema* type, Value document) {
  bool is_leaf = false;
  return Collector(arena).below(type, document, is_leaf);
}

FieldSet with_parent_fields(const Schema* type, const FieldSet& set) {
  FieldSet result;
  for (const FieldSet::Node& node : set.nodes()) {
    const bool is_parent = !node.below.empty() && is_declared(type, node.element);
    result.add(node.element, node.member || is_parent,
               with_parent_fields(type_below(type, node.element), node.below));
  }
  return result;
}

void collapse_atomics(const Schema* type, FieldSet& set) {
  for (FieldSet::Node& node : set.nodes()) {
    if (node.below.empty()) continue;
    const Schema* const place = type_below(type, node.element);
    if (is_atomic_container(place)) {
      node.member = true;
      node.below = {};
    } else {
      collapse_atomics(place, node.below);
    }
  }
}

}  // namespace muster::fields
