// JSON Patch (RFC 6902) and Merge Patch (RFC 7386) on trees, with the habits of kube-apiserver's
// library where it departs from the RFCs. The target is changed in place and may be left half
// changed on failure: work on a clone. The patch is not changed, and the result shares nothing with
// it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace muster::json {

inline constexpr std::size_t kMaxPatchOperations = 10'000;
// What all "copy" operations of one patch together may add, as JSON text.
inline constexpr std::size_t kMaxPatchCopyBytes = 3 * 1024 * 1024;
// Nodes and items that one patch may visit or shift: about half a second of work.
inline constexpr std::size_t kMaxPatchWork = 32'000'000;

// `target` may be replaced as a whole (path ""), by an object or array only. "replace" of a missing
// key in an existing object adds it; "remove" of a missing key fails; negative indices count from
// the end. Fails with kBadRequest if the patch has not the form of one, kTooLarge beyond the bound
// of operations, kInvalid (without details) when an operation fails or the result would be nested
// too deep.
Status apply_json_patch(Value& target, Value patch);

// Members that no operation has, as "[0].foo": the server's warning or error is made of them.
std::vector<std::string> unknown_patch_members(Value patch);

// Fails with kBadRequest unless the patch is an object, as kube-apiserver demands.
Status check_merge_patch(Value patch);
Value apply_merge_patch(Arena& arena, Value target, Value patch);

}  // namespace muster::json
