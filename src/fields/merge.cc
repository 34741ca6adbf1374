#include "fields/merge.h"

#include <algorithm>
#include <map>

namespace muster::fields {
namespace {

using api::Schema;
using json::Member;
using json::Value;

bool has_contents(Value value) { return !value.empty(); }

// The values of a list by element. An element that comes twice has none.
using Index = std::map<PathElement, const Value*, PathElementLess>;

Index index_of(std::span<const Item> items) {
  Index index;
  for (const Item& item : items) {
    const auto [at, is_new] = index.emplace(item.element, item.value);
    if (!is_new) at->second = nullptr;
  }
  return index;
}

class Merger {
 public:
  explicit Merger(json::Arena& arena) : arena_(arena) {}

  Value merge(const Schema* type, const Value* live, const Value* document) {
    if (live == nullptr) return *document;
    if (document == nullptr) return *live;
    switch (treatment(type)) {
      case Treatment::kLeaf:
        return *document;
      case Treatment::kSet:
      case Treatment::kMapList:
        return has_contents(*live) || has_contents(*document) ? merge_lists(*type, *live, *document)
                                                              : *document;
      case Treatment::kDeduced:
        if (!live->is_object() || !(document->is_object() || document->is_null())) return *document;
        break;
      default:
        break;
    }
    return has_contents(*live) || has_contents(*document) ? merge_members(type, *live, *document)
                                                          : *document;
  }

 private:
  Value merge_members(const Schema* type, Value live, Value document) {
    const Value merged = Value::object(arena_, std::max(live.size(), document.size()));
    for (const Member& member : live.members()) {
      merged.append(member.key, merge(member_type(type, member.key).type, &member.value,
                                      document.find(member.key)));
    }
    for (const Member& member : document.members()) {
      if (!live.has(member.key)) merged.append(member.key, member.value);
    }
    return merged;
  }

  // Two cursors run over both lists. `next_shared` is the next item of the document that the live
  // list has, too: live items that the document has further on wait for their turn there.
  Value merge_lists(const Schema& type, Value live, Value document) {
    const std::vector<Item> left = items(type, live);
    const std::vector<Item> right = items(type, document);
    const Index in_live = index_of(left);
    const Index in_document = index_of(right);
    const auto is_shared = [&](const Item& item) { return in_live.contains(item.element); };
    auto next_shared = std::ranges::find_if(right, is_shared);
    const Value merged = Value::array(arena_, std::max(left.size(), right.size()));
    auto l = left.begin();
    auto r = right.begin();
    const auto take_document_item = [&] {
      const auto found = in_live.find(r->element);
      merged.push_back(
          merge(type.elem, found == in_live.end() ? nullptr : found->second, r->value));
      if (r++ == next_shared) next_shared = std::find_if(r, right.end(), is_shared);
    };
    while (l != left.end()) {
      if (!in_document.contains(l->element)) {
        merged.push_back(*l->value);
      } else if (next_shared == right.end()) {
        // The live list has this element twice. Upstream lets one item of the document pass at such
        // a place.
        if (r != right.end()) take_document_item();
      } else if (next_shared->element == l->element) {
        while (r != next_shared) take_document_item();
        take_document_item();
      }
      ++l;
    }
    while (r != right.end()) take_document_item();
    return merged;
  }

  std::vector<Item> items(const Schema& type, Value list) {
    Result<std::vector<Item>> found = items_of(arena_, type, list);
    MUSTER_ASSERT(found.has_value(), "both trees were checked against the schema");
    return *std::move(found);
  }

  json::Arena& arena_;
};

class Remover {
 public:
  explicit Remover(json::Arena& arena) : arena_(arena) {}

  Value remove(const Schema* type, Value value, const FieldSet& paths) {
    switch (treatment(type)) {
      case Treatment::kLeaf:
        return value;
      case Treatment::kSet:
      case Treatment::kMapList:
        return remove_items(*type, value, paths);
      default:
        return value.is_object() || type != nullptr ? remove_members(type, value, paths) : value;
    }
  }

 private:
  Value remove_members(const Schema* type, Value value, const FieldSet& paths) {
    const Value left = Value::object(arena_, value.size());
    for (const Member& member : value.members()) {
      const FieldSet::Node* const node = paths.find(PathElement::field(member.key));
      if (node == nullptr) {
        left.append(member.key, member.value);
      } else if (!node->member) {
        left.append(member.key,
                    remove(member_type(type, member.key).type, member.value, node->below));
      }
    }
    return left.empty() ? Value() : left;
  }

  Value remove_items(const Schema& list, Value value, const FieldSet& paths) {
    const Value left = Value::array(arena_, value.size());
    for (const Value item : value.items()) {
      const Result<PathElement> element = item_element(arena_, list, item);
      const FieldSet::Node* const node = element ? paths.find(*element) : nullptr;
      if (node == nullptr) {
        left.push_back(item);
      } else if (!node->member) {
        left.push_back(remove(list.elem, item, node->below));
      }
    }
    return left.empty() ? Value() : left;
  }

  json::Arena& arena_;
};

}  // namespace

Value merge(json::Arena& arena, const Schema* type, Value live, Value document) {
  return Merger(arena).merge(type, &live, &document);
}

Value remove(json::Arena& arena, const Schema* type, Value object, const FieldSet& paths) {
  if (paths.empty()) return object;
  return Remover(arena).remove(type, object, paths);
}

}  // namespace muster::fields
