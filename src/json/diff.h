// The way from one tree to another as a JSON Patch (RFC 6902).
#pragma once

#include "json/value.h"

namespace muster::json {

// Applied to `before` it gives `after`; an empty array if they are equal. Members and items are
// added, replaced and removed one by one, items at the end of their array. The patch lives in the
// arena and may share nodes with `after`.
Value make_json_patch(Arena& arena, Value before, Value after);

}  // namespace muster::json
