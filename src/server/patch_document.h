// The four forms of PATCH bodies, and what they make of an object (spec: apimachinery 2). Pure on
// trees; internal to server/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"
#include "base/http.h"
#include "base/result.h"
#include "json/value.h"
#include "server/decode_body.h"

namespace muster::server {

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

// kUnsupportedMediaType in upstream's words. Custom resources take no strategic merge patch.
Result<PatchType> patch_type(std::string_view content_type, bool custom);

// The object after a patch that is not an apply. `object` is not changed. Members of the patch
// itself that nobody knows, or that occur twice, are noted in `loose`.
Result<json::Value> patched(json::Arena& arena, PatchType type, const http::Request& request,
                            json::Value object, const api::Schema& schema, Looseness& loose);

// The result of a patch in the form of its kind; a result that cannot be decoded is a 422 that
// quotes it.
Result<json::Value> decode_patched(json::Arena& arena, json::Value tree, const BodyKind& kind,
                                   const api::Registry& registry, Looseness loose,
                                   const BodyRules& rules);

// The document of an apply: decoded YAML, of the right kind, without managedFields.
Result<json::Value> apply_document(json::Arena& arena, const http::Request& request,
                                   const api::GroupVersionKind& gvk, const BodyRules& rules);

}  // namespace muster::server
