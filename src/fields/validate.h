// Checks a document against its schema before it is applied (spec: apimachinery 1.6, step 2), in
// upstream's words.
#pragma once

#include "fields/type.h"

namespace muster::fields {

enum class Duplicates : std::uint8_t { kRefused, kAllowed };  // of items in sets and map-lists

// Fails with kUntranslated: `.spec.text: expected string, got ...`, or several such lines under
// `errors:`.
Status check_document(json::Arena& arena, const api::Schema* type, json::Value document,
                      Duplicates duplicates);

}  // namespace muster::fields
