#include "json/strategic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/go_kind.h"
#include "json/go_text.h"
#include "json/write.h"

namespace muster::json {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFrom = "$deleteFromPrimitiveList/";

std::unexpected<Error> untranslated(std::string message) {
  return fail(Code::kUntranslated, std::move(message));
}

// What Go's %s makes of a marker.
std::string marker_text(Value marker) {
  if (marker.is_string()) return std::string(marker.as_string());
  if (marker.is_null()) return "%!s(<nil>)";
  return fmt::format("%!s({}={})", go_type(marker), go_text(marker));
}

std::unexpected<Error> unknown_marker(Value patch) {
  return untranslated(fmt::format("unknown patch type: {} in map: {}",
                                  marker_text(patch.get(kPatch)), go_text(patch)));
}

std::unexpected<Error> no_merge_key(Value item, std::string_view key) {
  return untranslated(
      fmt::format("map: {} does not contain declared merge key: {}", go_text(item), key));
}

// A patch value that meets nothing to merge with: without nulls and without maps that carry $patch.
// Nothing if it is such a map itself.
std::optional<Value> clone_clean(Arena& arena, Value patch) {
  if (patch.has(kPatch)) return std::nullopt;
  if (patch.is_array()) {
    const Value copy = Value::array(arena, patch.size());
    for (const Value item : patch.items())
      if (const auto clean = clone_clean(arena, item)) copy.push_back(*clean);
    return copy;
  }
  if (!patch.is_object()) return clone(arena, patch);
  const Value copy = Value::object(arena, patch.size());
  for (const Member& member : patch.members()) {
    if (member.value.is_null()) continue;
    if (const auto clean = clone_clean(arena, member.value))
      copy.append(arena.copy(member.key), *clean);
  }
  return copy;
}

// What identifies an item of a merging list: the value of its merge key, or a scalar itself.
std::string identity(Value item, std::string_view merge_key) {
  return write(merge_key.empty() ? item : item.get(merge_key));
}

// Where each identity stands first in a list.
class Positions {
 public:
  Positions(Value list, std::string_view merge_key) : merge_key_(merge_key) {
    for (std::size_t i = 0; i < list.size(); ++i)
      first_.try_emplace(identity(list.item(i), merge_key), i);
  }

  std::optional<std::size_t> of(Value item) const {
    const auto found = first_.find(identity(item, merge_key_));
    return found == first_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::string_view merge_key_;
  std::unordered_map<std::string, std::size_t> first_;
};

// Items that `order` names stand in that order. The others keep theirs and are woven in where the
// live list had them: before the first named item that stood after them.
Value weave(Arena& arena, Value list, const Positions& order, const Positions& live) {
  std::multimap<std::size_t, Value> named;  // by place in `order`
  std::vector<Value> others;
  for (const Value item : list.items()) {
    if (const auto place = order.of(item)) {
      named.emplace(*place, item);
    } else {
      others.push_back(item);
    }
  }
  const Value woven = Value::array(arena, list.size());
  auto other = others.begin();
  for (const auto& [place, item] : named) {
    const auto there = live.of(item);
    for (; there && other != others.end(); ++other) {
      const auto here = live.of(*other);
      if (!here || *here > *there) break;
      woven.push_back(*other);
    }
    woven.push_back(item);
  }
  for (; other != others.end(); ++other) woven.push_back(*other);
  return woven;
}

class StrategicMerge {
 public:
  explicit StrategicMerge(Arena& arena) : arena_(arena) {}

  Result<Value> maps(Value live, Value patch, const MergeRules* rules) {
    if (patch.has(kPatch)) return marked_map(patch);
    MUSTER_CHECK(retain_keys(live, patch));
    delete_scalars(live, patch);
    live.erase_if([&](const Member& member) {
      const Value* const change = patch.find(member.key);
      return change && change->is_null();
    });
    std::set<std::string_view> ordered;  // lists that are done
    for (const Member& member : patch.members())
      if (member.key.starts_with(kSetOrder)) {
        const std::string_view field = member.key.substr(kSetOrder.size());
        MUSTER_CHECK(ordered_list(live, patch, field, rules));
        ordered.insert(field);
      }
    for (const Member& member : patch.members())
      if (!is_directive(member.key) && !member.value.is_null() && !ordered.contains(member.key))
        MUSTER_CHECK(this->member(live, member, rules));
    return live;
  }

 private:
  static bool is_directive(std::string_view key) {
    return key == kRetainKeys || key.starts_with(kSetOrder) || key.starts_with(kDeleteFrom);
  }

  Result<Value> marked_map(Value patch) {
    const std::string_view marker = patch.get(kPatch).as_string();
    if (marker == "delete") return Value::object(arena_);
    if (marker != "replace") return unknown_marker(patch);
    const Value copy = clone(arena_, patch);
    copy.erase(kPatch);
    return copy;
  }

  static Status retain_keys(Value live, Value patch) {
    const Value* const list = patch.find(kRetainKeys);
    if (!list) return {};
    std::set<std::string_view> retained;
    for (const Value key : list->items()) retained.insert(key.as_string());
    const auto listed = [&](const Member& member) {
      return member.value.is_null() || is_directive(member.key) || retained.contains(member.key);
    };
    if (!list->is_array() || !std::ranges::all_of(patch.members(), listed))
      return fail(Code::kBadRequest, "invalid patch format of retainKeys");
    live.erase_if([&](const Member& member) { return !retained.contains(member.key); });
    return {};
  }

  // Directives that name no list of the live object are ignored.
  static void delete_scalars(Value live, Value patch) {
    for (const Member& member : patch.members()) {
      if (!member.key.starts_with(kDeleteFrom)) continue;
      const Value list = live.get(member.key.substr(kDeleteFrom.size()));
      if (!list.is_array()) continue;
      const Positions doomed(member.value, "");
      std::size_t kept = 0;
      for (const Value item : list.items())
        if (!doomed.of(item)) list.items()[kept++] = item;
      list.resize(kept);
    }
  }

  Status member(Value live, const Member& patch, const MergeRules* rules) {
    Value* const found = live.find(patch.key);
    const MergeRules* const below = rules ? rules->member(patch.key) : nullptr;
    if (!found || found->kind() != patch.value.kind()) {
      if (const auto clean = clone_clean(arena_, patch.value)) live.set(patch.key, *clean);
      return {};
    }
    if (found->is_object() && !(below && below->replaces())) {
      MUSTER_TRY(*found, maps(*found, patch.value, below));
    } else if (found->is_array() && below && below->merges()) {
      MUSTER_TRY(*found, lists(*found, patch.value, *below));
    } else {
      *found = clone(arena_, patch.value);
    }
    return {};
  }

  // A list that comes with $setElementOrder.
  Status ordered_list(Value live, Value patch, std::string_view field, const MergeRules* rules) {
    const Value order = patch.get(std::string(kSetOrder) + std::string(field));
    const MergeRules* const below = rules ? rules->member(field) : nullptr;
    const Value change = patch.get(field);
    const Value before = live.get(field);
    if (!order.is_array())
      return untranslated(
          fmt::format("expected a []interface {{}}, but received a {}", go_type(order)));
    if (!below)
      return untranslated(
          fmt::format("unable to find api field in struct {} for the json field \"{}\"",
                      rules ? rules->type_text() : "", field));
    MUSTER_CHECK(check_order_list(order, below->merge_key()));
    MUSTER_CHECK(check_order(change, order, below->merge_key()));
    const Positions was(before, below->merge_key());
    if (!change.is_null()) MUSTER_CHECK(member(live, {field, change}, rules));
    if (Value* const merged = live.find(field); merged && merged->is_array())
      *merged = weave(arena_, *merged, Positions(order, below->merge_key()), was);
    return {};
  }

  static Status check_order_list(Value order, std::string_view merge_key) {
    if (merge_key.empty()) return {};
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (!order.item(i).is_object())
        return untranslated(fmt::format("value for key {} is not a map", i));
      if (!order.item(i).has(merge_key)) return no_merge_key(order.item(i), merge_key);
    }
    return {};
  }

  // The patch's items must be among those of the order list, and in its order.
  static Status check_order(Value change, Value order, std::string_view merge_key) {
    std::size_t at = 0;
    for (const Value item : change.items()) {
      if (item.has(kPatch)) continue;
      const std::string wanted = identity(item, merge_key);
      while (at < order.size() && identity(order.item(at), merge_key) != wanted) ++at;
      if (at == order.size())
        return untranslated(
            fmt::format("The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                        go_text(change), go_text(order)));
    }
    return {};
  }

  Result<Value> lists(Value live, Value patch, const MergeRules& rules) {
    if (live.empty() && patch.empty()) return live;
    MUSTER_CHECK(check_items(live, patch));
    const Value first = patch.empty() ? live.item(0) : patch.item(0);
    if (!first.is_object()) return scalar_lists(live, patch);
    const std::string_view key = rules.merge_key();
    if (key.empty())
      return untranslated(
          fmt::format("cannot merge lists without merge key for {}", rules.type_text()));
    return map_lists(live, patch, key, rules.element());
  }

  static Status check_items(Value live, Value patch) {
    const Value first = live.empty() ? patch.item(0) : live.item(0);
    const auto same = [&](Value item) { return go_type(item) == go_type(first); };
    if (!std::ranges::all_of(live.items(), same) || !std::ranges::all_of(patch.items(), same))
      return untranslated(fmt::format("list element types are not identical: [{} {}]",
                                      go_text(live), go_text(patch)));
    if (first.is_array())
      return fail(Code::kInvalid, "the server rejected our request due to an error in our request");
    return {};
  }

  // The union, each scalar once.
  Value scalar_lists(Value live, Value patch) {
    const Value both = Value::array(arena_, live.size() + patch.size());
    std::set<std::string> seen;
    for (const Value list : {live, patch})
      for (const Value item : list.items())
        if (seen.insert(write(item)).second) both.push_back(clone(arena_, item));
    return weave(arena_, both, Positions(patch, ""), Positions(live, ""));
  }

  Result<Value> map_lists(Value live, Value patch, std::string_view key,
                          const MergeRules* item_rules) {
    const Value deleted = Value::array(arena_);
    const Value plain = Value::array(arena_, patch.size());  // the patch without marked items
    bool replace = false;
    for (const Value item : patch.items()) {
      const std::string_view marker = item.get(kPatch).as_string();
      if (!item.has(kPatch)) {
        plain.push_back(item);
      } else if (marker == "delete") {
        if (!item.has(key)) return no_merge_key(item, key);
        deleted.push_back(item);
      } else if (marker == "merge") {
        return untranslated("merging lists cannot yet be specified in the patch");
      } else if (marker == "replace") {
        replace = true;
      } else {
        return unknown_marker(item);
      }
    }
    if (replace) return clone(arena_, plain);
    const Positions doomed(deleted, key);
    const Value left = Value::array(arena_, live.size() + plain.size());
    for (const Value item : live.items())
      if (!item.has(key) || !doomed.of(item)) left.push_back(item);
    return merge_items(left, plain, key, item_rules);
  }

  // Each item of the patch goes into the first live item of its key, or to the end as it is.
  Result<Value> merge_items(Value live, Value patch, std::string_view key,
                            const MergeRules* item_rules) {
    const Positions was(live, key);
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < live.size(); ++i)
      if (live.item(i).has(key)) places.try_emplace(identity(live.item(i), key), i);
    for (const Value item : patch.items()) {
      if (!item.has(key)) return no_merge_key(item, key);
      const auto [place, is_new] = places.try_emplace(identity(item, key), live.size());
      if (is_new) {
        live.push_back(clone(arena_, item));
      } else {
        MUSTER_TRY(const Value merged, maps(live.item(place->second), item, item_rules));
        live.items()[place->second] = merged;
      }
    }
    return weave(arena_, live, Positions(patch, key), was);
  }

  Arena& arena_;
};

}  // namespace

Result<Value> apply_strategic_merge(Arena& arena, Value target, Value patch,
                                    const MergeRules& rules) {
  if (patch.is_null()) return target;
  if (!patch.is_object())
    return fail(
        Code::kBadRequest,
        fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                    go_kind(patch.kind())));
  if (!target.is_object()) return fail(Code::kBadRequest, "invalid JSON document");
  return StrategicMerge(arena).maps(target, patch, &rules);
}

}  // namespace muster::json
