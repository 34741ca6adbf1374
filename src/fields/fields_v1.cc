#include "fields/fields_v1.h"

#include <fmt/format.h>

namespace muster::fields {
namespace {

using json::Value;

constexpr std::string_view kSelf = ".";

// A node without anything below is a member, with or without saying so by ".".
struct ParsedNode {
  bool member = false;
  FieldSet below;
};

Result<ParsedNode> parse_node(json::Arena& arena, Value contents) {
  if (!contents.is_object() && !contents.is_null())
    return fail(Code::kBadRequest, "a field set must be an object");
  ParsedNode node;
  for (const json::Member& entry : contents.members()) {
    if (entry.key == kSelf) {
      node.member = true;
      continue;
    }
    MUSTER_TRY(const std::optional<PathElement> element, parse_key(arena, entry.key));
    if (!element) continue;
    MUSTER_TRY(ParsedNode child, parse_node(arena, entry.value));
    node.below.add(*element, child.member, std::move(child.below));
  }
  node.below.sort();
  if (node.below.empty()) node.member = true;
  return node;
}

class Writer {
 public:
  Writer(json::Arena& arena, KeyOrder order)
      : arena_(arena), order_(order), leaf_(Value::object(arena)) {}

  Value write(const FieldSet& set, bool with_self) {
    const std::span<const FieldSet::Node> nodes = set.nodes();
    const Value object = Value::object(arena_, nodes.size() + (with_self ? 1 : 0));
    if (with_self) object.append(kSelf, leaf_);
    for (const FieldSet::Node& node : nodes) {
      object.append(key(node.element), node.below.empty() ? leaf_ : write(node.below, node.member));
    }
    if (order_ == KeyOrder::kText && nodes.size() > 1) object.sort_keys();
    return object;
  }

 private:
  std::string_view key(const PathElement& element) {
    text_.clear();
    append_key(text_, element);
    return arena_.copy(text_);
  }

  json::Arena& arena_;
  const KeyOrder order_;
  const Value leaf_;  // all leaves share one empty object, which nobody changes
  std::string text_;
};

}  // namespace

Result<FieldSet> parse_fields(json::Arena& arena, Value fields_v1) {
  MUSTER_TRY(ParsedNode root, parse_node(arena, fields_v1));
  return std::move(root.below);
}

Value write_fields(json::Arena& arena, const FieldSet& set, KeyOrder order) {
  return Writer(arena, order).write(set, false);
}

}  // namespace muster::fields
