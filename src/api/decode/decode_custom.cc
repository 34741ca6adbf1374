// Custom resources have no Go type: what their schema does not know is pruned, the rest stays as it
// is, with sorted keys. Their metadata alone is typed.
#include "api/decode/decode_custom.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/decode/go_decoder.h"
#include "api/schema/path_scope.h"
#include "json/parse.h"
#include "json/sort_keys.h"

namespace muster::api {
namespace {

using json::Member;
using json::Value;

bool is_deeper_than(Value value, int depth) {
  if (!value.is_object() && !value.is_array()) return false;
  if (depth == 0) return true;
  return std::ranges::any_of(value.items(),
                             [&](Value v) { return is_deeper_than(v, depth - 1); }) ||
         std::ranges::any_of(value.members(),
                             [&](const Member& m) { return is_deeper_than(m.value, depth - 1); });
}

bool is_dropped_null(Value value, const Field& field) {
  return value.is_null() && !field.schema->nullable && !field.default_value;
}

class Pruner {
 public:
  explicit Pruner(DecodeReport& report) : report_(report) { nothing_.shape = Shape::kStruct; }

  // In place.
  void prune(Value value, const Schema& schema) {
    switch (schema.shape) {
      case Shape::kStruct:
        if (value.is_object()) return prune_struct(value, schema);
        break;
      case Shape::kMap:
        if (value.is_object()) return prune_map(value, *schema.elem);
        break;
      case Shape::kList:
        if (value.is_array()) return prune_list(value, *schema.elem);
        break;
      case Shape::kAny:
      case Shape::kFieldsV1:
        return json::sort_all_keys(value);
      default:
        break;
    }
    // Validation will refuse it; until then nothing in it is known.
    prune_as_unknown(value);
  }

 private:
  void prune_struct(Value object, const Schema& schema) {
    object.erase_if([&](const Member& member) { return is_pruned(member, schema); });
    for (const Member& member : object.members()) {
      const Field* const field = schema.field(member.key);
      if (field == nullptr) {
        json::sort_all_keys(member.value);
      } else {
        const PathScope scope(path_, member.key);
        prune(member.value, *field->schema);
      }
    }
    object.sort_keys();
  }

  bool is_pruned(const Member& member, const Schema& schema) {
    if (const Field* const field = schema.field(member.key))
      return is_dropped_null(member.value, *field);
    if (schema.preserve_unknown) return false;
    if (schema.embedded_resource &&
        (member.key == "apiVersion" || member.key == "kind" || member.key == "metadata")) {
      return false;
    }
    const PathScope scope(path_, member.key);
    report_.add_unknown(path_);
    return true;
  }

  void prune_as_unknown(Value value) {
    if (value.is_object()) prune_struct(value, nothing_);
    if (value.is_array()) prune_list(value, nothing_);
  }

  void prune_map(Value map, const Schema& elem) {
    for (const Member& member : map.members()) {
      const PathScope scope(path_, member.key);
      prune(member.value, elem);
    }
    map.sort_keys();
  }

  void prune_list(Value list, const Schema& elem) {
    std::size_t index = 0;
    for (const Value item : list.items()) {
      const PathScope scope(path_, index++);
      prune(item, elem);
    }
  }

  DecodeReport& report_;
  Schema nothing_;  // a struct without fields
  std::string path_;
};

}  // namespace

Result<Value> decode_custom(json::Arena& arena, Value in, const Schema& schema,
                            DecodeReport& report) {
  if (!in.is_object()) {
    return fail(
        Code::kBadRequest,
        fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                    in.is_array()    ? "array"
                    : in.is_string() ? "string"
                                     : "value"));
  }
  if (is_deeper_than(in, json::kMaxDepth)) return fail(Code::kBadRequest, "exceeded max depth");
  Value metadata = in.get("metadata");
  const Field* const metadata_field = schema.field("metadata");
  if (metadata_field != nullptr && !metadata.is_null()) {
    MUSTER_TRY(metadata,
               GoDecoder(arena, report, "metadata").decode(metadata, *metadata_field->schema));
    std::ranges::sort(report.unknown);
    json::sort_all_keys(metadata);
    in.erase("metadata");
  }
  const auto sorted_from = static_cast<std::ptrdiff_t>(report.unknown.size());
  Pruner(report).prune(in, schema);
  std::sort(report.unknown.begin() + sorted_from, report.unknown.end());
  if (!metadata.is_null()) {
    in.set("metadata", metadata);
    in.sort_keys();
  }
  return in;
}

}  // namespace muster::api
