// The paths of a document: what an applier owns by sending it (spec: apimachinery 1.2).
#pragma once

#include "fields/field_set.h"
#include "fields/type.h"

namespace muster::fields {

// Leaves, list items, map keys, and structs that are null or empty. The document must fit its
// schema; items of lists that have no element are left out. Of items that a list has twice only the
// element is in the set.
FieldSet set_of_document(json::Arena& arena, const api::Schema* type, json::Value document);

// With every struct field above a path: owning a.b.c is owning a and a.b too, unless these are keys
// of a map.
FieldSet with_parent_fields(const api::Schema* type, const FieldSet& set);

// Where a place is atomic but the set has paths below it (the schema changed, or a client wrote the
// set): puts the place itself instead of these paths.
void collapse_atomics(const api::Schema* type, FieldSet& set);

}  // namespace muster::fields
