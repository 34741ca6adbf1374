// A set of paths, as a tree (spec: apimachinery 1.1).
//
// A node is a member when the path that ends there is in the set; what lies below it are longer
// paths. Owning `spec.replicas` does not make `spec` a member. Nodes are sorted, so two equal sets
// are written alike and set operations are merges. Path elements are views (path_element.h): a set
// lives no longer than what it was made from.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fields/path_element.h"

namespace muster::fields {

class FieldSet {
 public:
  struct Node;

  bool empty() const { return nodes_.empty(); }
  std::span<const Node> nodes() const;
  const Node* find(const PathElement& element) const;  // null pointer if absent
  bool has(std::span<const PathElement> path) const;
  void insert(std::span<const PathElement> path);

  // For builders: appends a node, unless it would be neither member nor parent. Builders that do
  // not add in order, or that may add an element twice, call sort() at the end.
  void add(const PathElement& element, bool member, FieldSet below);
  void add_leaf(const PathElement& element);
  void sort();

  // For operations that take a set apart.
  std::span<Node> nodes();

 private:
  std::vector<Node> nodes_;  // sorted by element
};

struct FieldSet::Node {
  PathElement element;
  bool member = false;
  FieldSet below;
};

inline std::span<const FieldSet::Node> FieldSet::nodes() const { return nodes_; }
inline std::span<FieldSet::Node> FieldSet::nodes() { return nodes_; }
inline void FieldSet::add(const PathElement& element, bool member, FieldSet below) {
  constexpr std::size_t kUsual = 4;
  if (!member && below.empty()) return;
  if (nodes_.capacity() == 0) nodes_.reserve(kUsual);
  nodes_.push_back({element, member, std::move(below)});
}
inline void FieldSet::add_leaf(const PathElement& element) { add(element, true, {}); }

bool operator==(const FieldSet& a, const FieldSet& b);

// The operations take what they can reuse by value: hand sets over that are no longer needed.
FieldSet unite(FieldSet a, FieldSet b);
FieldSet intersect(FieldSet a, const FieldSet& b);
// Without the paths of b. Paths below a member of b stay.
FieldSet subtract(FieldSet a, const FieldSet& b);
// Without the paths of b and all that lies below them.
FieldSet subtract_trees(FieldSet a, const FieldSet& b);

// Calls back with every path: on each level members come before what lies below them, as in
// upstream's messages.
using PathVisitor = std::function<void(std::span<const PathElement>)>;
void for_each_path(const FieldSet& set, const PathVisitor& visit);

}  // namespace muster::fields
