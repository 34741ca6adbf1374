#include "fields/compare.h"

#include <algorithm>

namespace muster::fields {
namespace {

using api::Field;
using api::Schema;
using api::Shape;
using json::Member;
using json::Value;

// A value on one side of the comparison; null pointer: there is none.
using Side = const Value*;

std::span<const Member> members_of(Side side) {
  return side == nullptr ? std::span<Member>() : side->members();
}

class Comparer {
 public:
  Comparer(json::Arena& arena, bool custom)
      : arena_(arena), custom_(custom), empty_struct_(Value::object(arena)) {}

  Result<Comparison> compare_roots(const Schema* type, Value before, Value after) {
    Comparison result;
    compare_below(treatment(type), type, &before, &after, result);
    if (failure_) return std::unexpected(*std::move(failure_));
    return result;
  }

 private:
  void compare(const PathElement& at, const Schema* type, Side before, Side after, Comparison& up) {
    const Treatment treated = treatment(type);
    if (treated == Treatment::kLeaf) return compare_leaf(at, before, after, up);
    Comparison below;
    const bool has_contents = compare_below(treated, type, before, after, below);
    up.removed.add(at, after == nullptr, std::move(below.removed));
    up.added.add(at, before == nullptr, std::move(below.added));
    up.modified.add(at, is_modified(before, after, has_contents), std::move(below.modified));
  }

  static void compare_leaf(const PathElement& at, Side before, Side after, Comparison& up) {
    if (before == nullptr) {
      up.added.add_leaf(at);
    } else if (after == nullptr) {
      up.removed.add_leaf(at);
    } else if (!json::equal(*before, *after)) {
      up.modified.add_leaf(at);
    }
  }

  // Beside what changed below: an empty list or map may have become null, and an object of free
  // form a scalar.
  static bool is_modified(Side before, Side after, bool has_contents) {
    if (before == nullptr || after == nullptr) return false;
    if (!has_contents) return !json::equal(*before, *after);
    return before->kind() != after->kind() && !before->is_null() && !after->is_null();
  }

  // Tells whether there was anything on either side.
  bool compare_below(Treatment treated, const Schema* type, Side before, Side after,
                     Comparison& up) {
    switch (treated) {
      case Treatment::kStruct:
        return compare_structs(*type, before, after, up);
      case Treatment::kSet:
      case Treatment::kMapList:
        return compare_lists(*type, before, after, up);
      default:
        return compare_maps(type, members_of(before), members_of(after), up);
    }
  }

  bool compare_structs(const Schema& type, Side before, Side after, Comparison& up) {
    const std::size_t count = type.fields.size();
    const std::size_t first = slots_.size();
    slots_.resize(first + 2 * count);
    std::vector<Member> unknown_before;
    std::vector<Member> unknown_after;
    align(type, before, first, unknown_before);
    align(type, after, first + count, unknown_after);
    bool has_contents = false;
    for (const std::uint16_t at : type.by_name) {
      const Side left = slots_[first + at];
      const Side right = slots_[first + count + at];
      if (left == nullptr && right == nullptr) continue;
      has_contents = true;
      if (left != right)
        compare(PathElement::field(type.fields[at].name), type.fields[at].schema, left, right, up);
    }
    slots_.resize(first);
    if (unknown_before.empty() && unknown_after.empty()) return has_contents;
    compare_maps(nullptr, unknown_before, unknown_after, up);
    up.removed.sort();
    up.modified.sort();
    up.added.sort();
    return true;
  }

  // Puts each member into the slot of its field. Trees are nearly always in the order of the
  // schema, so that one walk over both does; only members out of order are looked up.
  void align(const Schema& type, Side side, std::size_t first, std::vector<Member>& unknown) {
    if (side == nullptr || !side->is_object()) return;
    const std::span<const Member> members = side->members();
    std::size_t next = 0;
    for (std::size_t at = 0; at < type.fields.size(); ++at) {
      const Field& field = type.fields[at];
      if (next < members.size() && members[next].key == field.name) {
        slots_[first + at] = &members[next++].value;
      } else if (!custom_) {
        slots_[first + at] = implied(field);
      }
    }
    for (const Member& member : members.subspan(next)) {
      const int at = type.field_position(member.key);
      if (at < 0) {
        unknown.push_back(member);
      } else {
        slots_[first + static_cast<std::size_t>(at)] = &member.value;
      }
    }
  }

  // What a Go struct has in a field that its JSON does not show.
  Side implied(const Field& field) const {
    if (field.schema->shape == Shape::kStruct && !field.pointer) return &empty_struct_;
    if (!field.emit_always) return nullptr;
    if (field.pointer) return &null_;
    switch (field.schema->shape) {
      case Shape::kString:
        return &empty_string_;
      case Shape::kInteger:
      case Shape::kNumber:
      case Shape::kIntOrString:
        return &zero_;
      case Shape::kBoolean:
        return &false_;
      case Shape::kQuantity:
        return &zero_quantity_;
      default:
        return &null_;
    }
  }

  // Also of objects without schema, and of anything else, which has no members.
  bool compare_maps(const Schema* type, std::span<const Member> before,
                    std::span<const Member> after, Comparison& up) {
    std::vector<Member> sorted_before;
    std::vector<Member> sorted_after;
    before = sorted(before, sorted_before);
    after = sorted(after, sorted_after);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() || j < after.size()) {
      const int order = i == before.size()  ? 1
                        : j == after.size() ? -1
                                            : before[i].key.compare(after[j].key);
      const std::string_view key = order <= 0 ? before[i].key : after[j].key;
      const Side left = order <= 0 ? &before[i++].value : nullptr;
      const Side right = order >= 0 ? &after[j++].value : nullptr;
      compare(PathElement::field(key), member_type(type, key).type, left, right, up);
    }
    return !before.empty() || !after.empty();
  }

  static std::span<const Member> sorted(std::span<const Member> members,
                                        std::vector<Member>& storage) {
    if (std::ranges::is_sorted(members, {}, &Member::key)) return members;
    storage.assign(members.begin(), members.end());
    std::ranges::sort(storage, {}, &Member::key);
    return storage;
  }

  bool compare_lists(const Schema& type, Side before, Side after, Comparison& up) {
    const std::vector<Item> left = sorted_items(type, before);
    const std::vector<Item> right = sorted_items(type, after);
    auto l = left.begin();
    auto r = right.begin();
    while (l != left.end() || r != right.end()) {
      const PathElement& at =
          r == right.end() || (l != left.end() && precedes(*l, *r)) ? l->element : r->element;
      const auto differs = [&](const Item& item) { return !(item.element == at); };
      const auto l_end = std::find_if(l, left.end(), differs);
      const auto r_end = std::find_if(r, right.end(), differs);
      compare_items(at, type.elem, {l, l_end}, {r, r_end}, up);
      l = l_end;
      r = r_end;
    }
    return !left.empty() || !right.empty();
  }

  // The items of one element, on both sides. Several of them are one unit: their fields have no
  // owner.
  void compare_items(const PathElement& at, const Schema* type, std::span<const Item> before,
                     std::span<const Item> after, Comparison& up) {
    const auto single = [](std::span<const Item> items) {
      return items.empty() ? nullptr : items[0].value;
    };
    const auto same = [](const Item& a, const Item& b) { return json::equal(*a.value, *b.value); };
    const bool before_unit = before.size() > 1;
    const bool after_unit = after.size() > 1;
    if (!before_unit && !after_unit) return compare(at, type, single(before), single(after), up);
    if (before_unit && after_unit) {
      if (!std::ranges::equal(before, after, same)) up.modified.add_leaf(at);
    } else if (before_unit) {
      up.removed.add_leaf(at);
      if (!after.empty()) compare(at, type, nullptr, single(after), up);
    } else {
      up.added.add_leaf(at);
      if (!before.empty()) compare(at, type, single(before), nullptr, up);
    }
  }

  std::vector<Item> sorted_items(const Schema& type, Side side) {
    if (side == nullptr) return {};
    Result<std::vector<Item>> items = items_of(arena_, type, *side);
    if (!items) {
      failure_ = std::move(items).error();
      return {};
    }
    // Items of one element stay in the order of the list, which is that of their addresses.
    const auto before = [](const Item& a, const Item& b) {
      const std::weak_ordering order = fields::compare(a.element, b.element);
      return order < 0 || (order == 0 && a.value < b.value);
    };
    if (!std::ranges::is_sorted(*items, before)) std::ranges::sort(*items, before);
    return *std::move(items);
  }

  static bool precedes(const Item& a, const Item& b) {
    return fields::compare(a.element, b.element) < 0;
  }

  json::Arena& arena_;
  const bool custom_;
  const Value empty_struct_;
  const Value null_ = Value();
  const Value empty_string_ = Value::view("");
  const Value zero_ = Value::of(0);
  const Value false_ = Value::of(false);
  const Value zero_quantity_ = Value::view("0");
  std::vector<Side> slots_;  // a stack: per struct on the way down, one slot per field and side
  std::optional<Error> failure_;
};

}  // namespace

void Comparison::exclude(const FieldSet& reset) {
  removed = subtract_trees(std::move(removed), reset);
  modified = subtract_trees(std::move(modified), reset);
  added = subtract_trees(std::move(added), reset);
}

Result<Comparison> compare_objects(json::Arena& arena, const RootType& type, Value before,
                                   Value after) {
  return Comparer(arena, type.custom).compare_roots(type.schema, before, after);
}

}  // namespace muster::fields
