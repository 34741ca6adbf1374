#include "json/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "json/go_kind.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::json {
namespace {

// "~1" is a slash and "~0" a tilde; any other tilde stands for itself.
std::string unescape_token(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const std::string_view two = token.substr(i, 2);
    if (two == "~1" || two == "~0") {
      out += two == "~1" ? '/' : '~';
      ++i;
    } else {
      out += token[i];
    }
  }
  return out;
}

// What stands before the first slash is ignored, as upstream does.
std::vector<std::string> tokens_of(std::string_view path) {
  std::vector<std::string> tokens;
  for (std::size_t slash = path.find('/'); slash != path.npos;) {
    path.remove_prefix(slash + 1);
    slash = path.find('/');
    tokens.push_back(unescape_token(path.substr(0, slash)));
  }
  return tokens;
}

// An index in 0..limit-1; negative ones count from the end.
std::optional<std::size_t> index_of(std::string_view token, std::size_t limit) {
  if (token.starts_with('+') && !token.starts_with("+-")) token.remove_prefix(1);
  std::int64_t index = 0;
  const char* const end = token.data() + token.size();
  const auto [last, error] = std::from_chars(token.data(), end, index);
  if (token.empty() || error != std::errc() || last != end) return std::nullopt;
  const auto size = static_cast<std::int64_t>(limit);
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  return static_cast<std::size_t>(index);
}

class JsonPatcher {
 public:
  JsonPatcher(Arena& arena, Value& root) : arena_(arena), root_(root) {}

  bool apply(Value operation) {
    const std::string_view op = operation.get("op").as_string();
    if (!operation.get("path").is_string()) return false;
    const std::string_view path = operation.get("path").as_string();
    const Value value = operation.get("value");  // absent counts as null
    if (op == "add") return add(path, clone(arena_, value));
    if (op == "remove") return remove(path);
    if (op == "replace") return replace(path, clone(arena_, value));
    if (op == "test") return test(path, value);
    if (!operation.get("from").is_string()) return false;
    const std::string_view from = operation.get("from").as_string();
    if (op == "move") return move(from, path);
    if (op == "copy") return copy(from, path);
    return false;
  }

 private:
  // A member or item, there or not: what the last token of a path names in what the others lead to.
  struct Place {
    Value container;
    std::string key;
    int depth;  // of what lies in the container
  };

  std::optional<Place> locate(std::string_view path) const {
    const std::vector<std::string> tokens = tokens_of(path);
    if (tokens.empty() || tokens.size() >= kMaxDepth) return std::nullopt;
    Value at = root_;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto next = get({at, tokens[i], 0});
      if (!next) return std::nullopt;
      at = *next;
    }
    if (!at.is_object() && !at.is_array()) return std::nullopt;
    return Place{at, tokens.back(), static_cast<int>(tokens.size())};
  }

  // A missing member reads as null, a missing item is a failure.
  static std::optional<Value> get(const Place& place) {
    if (place.container.is_object()) return place.container.get(place.key);
    const auto index = index_of(place.key, place.container.size());
    if (!index) return std::nullopt;
    return place.container.item(*index);
  }

  bool add(std::string_view path, Value value) {
    const auto place = locate(path);
    if (!place || !fits(value, place->depth)) return false;
    const Value container = place->container;
    if (container.is_object()) {
      container.set(place->key, value);
      return true;
    }
    const auto index =
        place->key == "-" ? container.size() : index_of(place->key, container.size() + 1);
    if (!index || !charge(container.size())) return false;
    container.insert(*index, value);
    return true;
  }

  bool remove(std::string_view path) {
    const auto place = locate(path);
    if (!place || !charge(place->container.size())) return false;
    if (place->container.is_object()) return place->container.erase(place->key);
    const auto index = index_of(place->key, place->container.size());
    if (index) place->container.erase_item(*index);
    return index.has_value();
  }

  bool replace(std::string_view path, Value value) {
    if (path.empty()) {
      if (!value.is_object() && !value.is_array()) return false;
      root_ = value;
      return true;
    }
    const auto place = locate(path);
    if (!place || !fits(value, place->depth)) return false;
    if (place->container.is_object()) {
      place->container.set(place->key, value);
      return true;
    }
    const auto index = index_of(place->key, place->container.size());
    if (index) place->container.items()[*index] = value;
    return index.has_value();
  }

  bool test(std::string_view path, Value expected) {
    if (path.empty()) return equal(root_, expected);
    const auto place = locate(path);
    const auto found = place ? get(*place) : std::nullopt;
    return found && equal(*found, expected);
  }

  bool move(std::string_view from, std::string_view path) {
    const auto place = locate(from);
    const auto value = place ? get(*place) : std::nullopt;
    return value && remove(from) && add(path, *value);
  }

  bool copy(std::string_view from, std::string_view path) {
    const auto place = locate(from);
    const auto value = place ? get(*place) : std::nullopt;
    if (!value) return false;
    copied_ += write(*value).size();
    return copied_ <= kMaxPatchCopyBytes && add(path, clone(arena_, *value));
  }

  bool charge(std::size_t work) { return (work_ += work) <= kMaxPatchWork; }

  // Whether a value may stand so many levels below the root without exceeding kMaxDepth.
  bool fits(Value value, int depth) {
    if (!value.is_object() && !value.is_array()) return true;
    if (depth >= kMaxDepth || !charge(value.size() + 1)) return false;
    const auto fits_below = [&](Value below) { return fits(below, depth + 1); };
    return std::ranges::all_of(value.items(), fits_below) &&
           std::ranges::all_of(value.members(), fits_below, &Member::value);
  }

  Arena& arena_;
  Value& root_;
  std::size_t copied_ = 0;
  std::size_t work_ = 0;
};

constexpr std::string_view kOperationMembers[] = {"op", "path", "from", "value"};

Status cannot_unmarshal(Value value, std::string_view into) {
  return fail(Code::kBadRequest,
              fmt::format("error decoding patch: json: cannot unmarshal {} into {}",
                          go_kind(value.kind()), into));
}

Status check_form(Value patch) {
  if (!patch.is_array() && !patch.is_null())
    return cannot_unmarshal(patch, "Go value of type []handlers.jsonPatchOp");
  for (const Value operation : patch.items()) {
    if (!operation.is_object() && !operation.is_null())
      return cannot_unmarshal(operation, "Go value of type handlers.jsonPatchOp");
    for (const std::string_view key : {"op", "path", "from"}) {
      const Value text = operation.get(key);
      if (!text.is_string() && !text.is_null())
        return cannot_unmarshal(text,
                                fmt::format("Go struct field jsonPatchOp.{} of type string", key));
    }
  }
  if (patch.size() > kMaxPatchOperations)
    return fail(Code::kTooLarge,
                fmt::format("Request entity too large: The allowed maximum operations in a JSON "
                            "patch is {}, got {}",
                            kMaxPatchOperations, patch.size()));
  return {};
}

// A copy without null members, also inside arrays: a patch that meets nothing to merge with.
Value clone_pruned(Arena& arena, Value patch) {
  if (patch.is_array()) {
    const Value copy = Value::array(arena, patch.size());
    for (const Value item : patch.items()) copy.push_back(clone_pruned(arena, item));
    return copy;
  }
  if (!patch.is_object()) return clone(arena, patch);
  const Value copy = Value::object(arena, patch.size());
  for (const Member& member : patch.members())
    if (!member.value.is_null())
      copy.append(arena.copy(member.key), clone_pruned(arena, member.value));
  return copy;
}

}  // namespace

Status apply_json_patch(Value& target, Value patch) {
  MUSTER_CHECK(check_form(patch));
  if (patch.empty()) return {};
  Arena& arena = target.is_object() || target.is_array() ? target.arena() : patch.arena();
  JsonPatcher patcher(arena, target);
  for (const Value operation : patch.items())
    if (!patcher.apply(operation))
      return fail(Code::kInvalid, "the server rejected our request due to an error in our request");
  return {};
}

std::vector<std::string> unknown_patch_members(Value patch) {
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < patch.size(); ++i)
    for (const Member& member : patch.item(i).members())
      if (std::ranges::find(kOperationMembers, member.key) == std::end(kOperationMembers))
        unknown.push_back(fmt::format("[{}].{}", i, member.key));
  return unknown;
}

Status check_merge_patch(Value patch) {
  if (patch.is_object()) return {};
  return cannot_unmarshal(patch, "Go value of type map[string]interface {}");
}

Value apply_merge_patch(Arena& arena, Value target, Value patch) {
  if (!target.is_object()) return clone_pruned(arena, patch);
  if (!patch.is_object()) return clone(arena, patch);
  // First all deletions in one pass, so that a patch full of nulls costs no more than its size.
  target.erase_if([&](const Member& member) {
    const Value* const change = patch.find(member.key);
    return change && change->is_null();
  });
  for (const Member& change : patch.members())
    if (!change.value.is_null())
      target.set(change.key, apply_merge_patch(arena, target.get(change.key), change.value));
  return target;
}

}  // namespace muster::json
