// What a value at one place of an object may be: a tree of nodes, the same for built-in kinds and
// custom resources. Everything that must know the shape of an object walks this tree: decoding,
// protobuf, apply, strategic merge, OpenAPI, `kubectl explain`.
//
// Built once at start from the data files in api/data (see docs/kinds.md), then immutable and
// shared by all threads. Nodes of recursive types point back into the tree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/pattern.h"
#include "json/strategic.h"
#include "json/value.h"

namespace muster::api {

enum class Shape : std::uint8_t {
  kStruct,  // known fields
  kMap,     // string to element
  kList,    // of element
  kString,
  kInteger,  // format says int32 or int64
  kNumber,
  kBoolean,
  kBytes,      // base64 in JSON
  kTime,       // RFC 3339, seconds
  kMicroTime,  // RFC 3339, exactly six decimals
  kQuantity,
  kIntOrString,
  kFieldsV1,  // managedFields' set: free JSON, as it is
  // Free JSON (RawExtension, JSON, preserve-unknown-fields without properties). If `elem` is set,
  // objects that stand here, or in a list that stands here, are of that type (JSONSchemaPropsOrBool
  // and the like).
  kAny,
};

enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

struct Schema;

// How a field stands in protobuf. Its wire type follows from its schema's shape.
struct ProtoField {
  int number = 0;        // 0: not on the wire
  std::string via;       // the sub-message that it lies in on the wire (flat in JSON), if any
  bool wrapped = false;  // the (innermost) list is a message of its own, with the items as field 1
};

// A struct whose fields stand flat in JSON, among those of the one that it is embedded in.
struct Inlined {
  std::string name;         // of the sub-message on the wire: volumeSource
  int number = 0;           // of that sub-message
  std::string struct_name;  // in Go: VolumeSource
};

struct Field {
  std::string name;
  const Schema* schema = nullptr;
  bool required = false;
  bool emit_always = false;  // written even when empty
  bool pointer = false;      // absent and zero are different values
  std::optional<json::Value>
      default_value;        // as published in the schema (custom resources: what is filled in)
  std::string description;  // ours, may be empty
  ProtoField proto;
};

// Finds a field by its name, in an open-addressed table that is at most half full.
class FieldIndex {
 public:
  FieldIndex() = default;
  explicit FieldIndex(const std::vector<Field>& fields);
  int find(const std::vector<Field>& fields, std::string_view name) const;  // -1 if unknown

 private:
  std::size_t home_of(std::string_view name) const;

  std::vector<std::uint16_t> slots_;  // position of a field plus one; 0 is empty
};

// A CEL rule of a custom resource's schema, kept for the published manifests; what it says is C++
// in admission/.
struct CelRule {
  std::string rule;
  std::string message;
  json::Value source;  // the whole entry as declared
};

struct Limits {
  std::optional<double> minimum, maximum;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::string pattern;
  std::shared_ptr<const Pattern> compiled;  // of `pattern`, if there is one
};

struct Schema final : json::MergeRules {
  Shape shape = Shape::kAny;
  std::string type_name;  // io.k8s.api.core.v1.Pod, v1alpha2.JobSet.spec; empty for anonymous nodes
  std::string description;         // of the type; ours, may be empty
  std::vector<std::string> kinds;  // "v1/Pod", "batch/v1/Job": the kinds that have this type
  bool published = true;           // in OpenAPI
  std::string format;              // int32, int64, double, byte, date-time …
  std::string go_type;             // of a named string type, as Go's messages have it: v1.PodPhase
  std::string proto_message;       // k8s.io.api.core.v1.Pod
  std::vector<Field> fields;       // kStruct, in the order in which the server writes them
  std::vector<std::uint16_t> by_name;  // positions in `fields`, sorted by name
  FieldIndex index;                    // of `fields`
  std::vector<Inlined> inlined;
  const Schema* elem = nullptr;  // kList, kMap
  ListType list_type = ListType::kAtomic;
  bool has_list_type = false;  // declared (a list without one is atomic for apply)
  std::vector<std::string> list_keys;
  bool atomic_map = false;        // mapType atomic, of a kMap or kStruct
  bool preserve_unknown = false;  // unknown fields are kept (custom resources)
  bool nullable = false;
  bool embedded_resource = false;
  std::vector<std::string> enum_values;  // published; a closed set for custom resources only
  Limits limits;
  std::vector<CelRule> rules;
  std::string patch_strategy;  // "", merge, replace, retainKeys, merge,retainKeys
  std::string patch_merge_key;
  json::Value validation;  // {anyOf, oneOf, allOf, not} as declared; null if none
  json::Value unions;      // x-kubernetes-unions as declared; null if none

  const Field* field(std::string_view name) const;  // null pointer if unknown
  int field_position(std::string_view name) const;  // in `fields`; -1 if unknown

  // json::MergeRules
  const json::MergeRules* member(std::string_view key) const override;
  const json::MergeRules* element() const override { return elem; }
  bool merges() const override { return patch_strategy.starts_with("merge"); }
  bool replaces() const override { return patch_strategy.starts_with("replace"); }
  bool retain_keys() const override {
    return patch_strategy.find("retainKeys") != std::string::npos;
  }
  std::string_view merge_key() const override { return patch_merge_key; }
};

}  // namespace muster::api
