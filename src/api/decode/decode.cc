#include "api/decode/decode.h"

#include <algorithm>

#include "api/decode/decode_custom.h"
#include "api/decode/go_decoder.h"

namespace muster::api {
namespace {

using json::Value;

void fill_in_kind(json::Arena& arena, Value object, const GroupVersionKind& gvk) {
  if (object.get("kind").as_string().empty()) object.set("kind", Value::string(arena, gvk.kind));
  if (object.get("apiVersion").as_string().empty()) {
    object.set("apiVersion", Value::string(arena, gvk.api_version()));
  }
}

// Go drops an empty list when it writes an object, but not when it reads one; and an empty
// managedFields is a request of its own: to forget all owners.
bool forgets_owners(Value in) {
  const Value entries = in.get({"metadata", "managedFields"});
  return entries.is_array() && entries.empty();
}

Result<Value> decode_built_in(json::Arena& arena, Value in, const Schema& schema,
                              DecodeReport& report) {
  const bool forget = forgets_owners(in);
  MUSTER_TRY(const Value out, GoDecoder(arena, report).decode(in, schema));
  if (forget && out.get("metadata").is_object()) out.get("metadata").array_at("managedFields");
  return out;
}

}  // namespace

void DecodeReport::add_unknown(std::string_view path) {
  if (full() || path.size() > kMaxPathBytes) return;
  if (std::ranges::find(unknown, path) == unknown.end()) unknown.emplace_back(path);
}

Result<Value> decode(json::Arena& arena, Value in, const Resource& resource, DecodeReport& report) {
  if (resource.custom) return decode_custom(arena, in, *resource.schema, report);
  if (in.is_object()) fill_in_kind(arena, in, resource.gvk);
  return decode_built_in(arena, in, *resource.schema, report);
}

Result<Value> decode_type(json::Arena& arena, Value in, const Schema& schema, bool custom,
                          DecodeReport& report) {
  if (custom) return decode_custom(arena, in, schema, report);
  return decode_built_in(arena, in, schema, report);
}

}  // namespace muster::api
