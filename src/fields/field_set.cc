#include "fields/field_set.h"

#include <algorithm>

namespace muster::fields {
namespace {

using Node = FieldSet::Node;

bool precedes(const Node& a, const Node& b) { return compare(a.element, b.element) < 0; }

// Walks two sets side by side and calls back once per element, with the node of either side or a
// null pointer. The nodes of `a` may be taken apart.
template <class Other, class Visit>
void merge_walk(FieldSet& a, Other& b, const Visit& visit) {
  const std::span<Node> left = a.nodes();
  const std::span right = b.nodes();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    const std::weak_ordering order = i == left.size() ? std::weak_ordering::greater
                                     : j == right.size()
                                         ? std::weak_ordering::less
                                         : compare(left[i].element, right[j].element);
    visit(order <= 0 ? &left[i] : nullptr, order >= 0 ? &right[j] : nullptr);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

void visit_paths(const FieldSet& set, std::vector<PathElement>& path, const PathVisitor& visit) {
  for (const Node& node : set.nodes()) {
    if (!node.member) continue;
    path.push_back(node.element);
    visit(path);
    path.pop_back();
  }
  for (const Node& node : set.nodes()) {
    path.push_back(node.element);
    visit_paths(node.below, path, visit);
    path.pop_back();
  }
}

}  // namespace

void FieldSet::sort() {
  const auto out_of_order = [](const Node& a, const Node& b) { return !precedes(a, b); };
  if (std::ranges::adjacent_find(nodes_, out_of_order) == nodes_.end()) return;
  std::ranges::sort(nodes_, precedes);
  std::vector<Node> joined;
  joined.reserve(nodes_.size());
  for (Node& node : nodes_) {
    if (joined.empty() || !(joined.back().element == node.element)) {
      joined.push_back(std::move(node));
    } else {
      joined.back().member |= node.member;
      joined.back().below = unite(std::move(joined.back().below), std::move(node.below));
    }
  }
  nodes_ = std::move(joined);
}

const Node* FieldSet::find(const PathElement& element) const {
  const auto found = std::ranges::lower_bound(nodes_, element, PathElementLess(), &Node::element);
  return found != nodes_.end() && found->element == element ? &*found : nullptr;
}

bool FieldSet::has(std::span<const PathElement> path) const {
  if (path.empty()) return false;
  const Node* const node = find(path.front());
  if (node == nullptr) return false;
  return path.size() == 1 ? node->member : node->below.has(path.subspan(1));
}

void FieldSet::insert(std::span<const PathElement> path) {
  if (path.empty()) return;
  auto at = std::ranges::lower_bound(nodes_, path.front(), PathElementLess(), &Node::element);
  if (at == nodes_.end() || !(at->element == path.front()))
    at = nodes_.insert(at, Node{path.front(), false, {}});
  if (path.size() == 1) {
    at->member = true;
  } else {
    at->below.insert(path.subspan(1));
  }
}

bool operator==(const FieldSet& a, const FieldSet& b) {
  return std::ranges::equal(a.nodes(), b.nodes(), [](const Node& left, const Node& right) {
    return left.member == right.member && left.element == right.element &&
           left.below == right.below;
  });
}

FieldSet unite(FieldSet a, FieldSet b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  FieldSet result;
  merge_walk(a, b, [&](Node* left, Node* right) {
    if (left != nullptr && right != nullptr) {
      result.add(left->element, left->member || right->member,
                 unite(std::move(left->below), std::move(right->below)));
    } else {
      Node& only = left != nullptr ? *left : *right;
      result.add(only.element, only.member, std::move(only.below));
    }
  });
  return result;
}

FieldSet intersect(FieldSet a, const FieldSet& b) {
  FieldSet result;
  if (a.empty() || b.empty()) return result;
  merge_walk(a, b, [&](Node* left, const Node* right) {
    if (left == nullptr || right == nullptr) return;
    result.add(left->element, left->member && right->member,
               intersect(std::move(left->below), right->below));
  });
  return result;
}

FieldSet subtract(FieldSet a, const FieldSet& b) {
  if (a.empty() || b.empty()) return a;
  FieldSet result;
  merge_walk(a, b, [&](Node* left, const Node* right) {
    if (left == nullptr) return;
    if (right == nullptr) return result.add(left->element, left->member, std::move(left->below));
    result.add(left->element, left->member && !right->member,
               subtract(std::move(left->below), right->below));
  });
  return result;
}

FieldSet subtract_trees(FieldSet a, const FieldSet& b) {
  if (a.empty() || b.empty()) return a;
  FieldSet result;
  merge_walk(a, b, [&](Node* left, const Node* right) {
    if (left == nullptr) return;
    if (right == nullptr) return result.add(left->element, left->member, std::move(left->below));
    if (right->member) return;
    result.add(left->element, left->member, subtract_trees(std::move(left->below), right->below));
  });
  return result;
}

void for_each_path(const FieldSet& set, const PathVisitor& visit) {
  std::vector<PathElement> path;
  visit_paths(set, path, visit);
}

}  // namespace muster::fields
