// JSON Patch (RFC 6902) and Merge Patch (RFC 7386) on trees. The target is changed in place and may
// be left half changed on failure: work on a clone.
#pragma once

#include "base/result.h"
#include "json/value.h"

namespace muster::json {

// `target` may be replaced as a whole (path ""). As kube-apiserver's library does it: "replace" of
// a missing key in an existing object adds it; "remove" of a missing key fails. `target` and
// `patch` must live at least as long as the result; clone what must not be shared.
Status apply_json_patch(Value& target, Value patch);

Value apply_merge_patch(Arena& arena, Value target, Value patch);

}  // namespace muster::json
