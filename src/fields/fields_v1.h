// Field sets as they stand in managedFields (spec: apimachinery 1.1): {"f:spec":{"f:replicas":{}}}.
#pragma once

#include "fields/field_set.h"

namespace muster::fields {

// Elements of unknown kinds are skipped; anything else that is wrong fails with kBadRequest. The
// set views the tree and the arena.
Result<FieldSet> parse_fields(json::Arena& arena, json::Value fields_v1);

enum class KeyOrder : std::uint8_t {
  kElements,  // that of the set: 9 before 10
  kText,      // by the bytes of the keys: how custom resources are written, where this is an object
              // like any other
};

// Equal sets give equal trees, in equal order.
json::Value write_fields(json::Arena& arena, const FieldSet& set,
                         KeyOrder order = KeyOrder::kElements);

}  // namespace muster::fields
