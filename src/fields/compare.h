// What differs between two versions of an object, as sets of paths (spec: apimachinery 1.5).
#pragma once

#include "fields/field_set.h"
#include "fields/type.h"

namespace muster::fields {

struct Comparison {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;

  bool empty() const { return removed.empty() && modified.empty() && added.empty(); }
  FieldSet changed() const { return unite(modified, added); }
  // Without what `reset` names, and all below it.
  void exclude(const FieldSet& reset);
};

// Leaves are compared by value. What stands on one side only is added or removed with all that lies
// below it.
//
// Of built-in kinds more is present than the trees show: the Go structs behind them always have
// their embedded structs and the fields that are written even when empty. Hence spec and
// spec.containers are no news on create, but spec.volumes is.
//
// Fails if a list has items without an element; then nothing can be said about ownership.
Result<Comparison> compare_objects(json::Arena& arena, const RootType& type, json::Value before,
                                   json::Value after);

}  // namespace muster::fields
