// Takes an applied document into the live object (spec: apimachinery 1.6 and 1.7).
#pragma once

#include "fields/field_set.h"
#include "fields/type.h"

namespace muster::fields {

// Leaves of the document win; structs and maps are united; items of sets and map-lists are merged
// by their element. The items of the document come in its order, those of the live object stay next
// to their neighbours. Where the live list has an element twice and the document has it too, the
// document's item stands for both. Both trees must fit their schema. The result shares subtrees
// with them.
json::Value merge(json::Arena& arena, const api::Schema* type, json::Value live,
                  json::Value document);

// Without the values at the paths of the set, which must be made for this type. What loses all its
// contents becomes null. Shares subtrees with the object.
json::Value remove(json::Arena& arena, const api::Schema* type, json::Value object,
                   const FieldSet& paths);

}  // namespace muster::fields
