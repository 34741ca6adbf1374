// From what a client sent to the object as upstream would hold it.
//
// Built-in kinds: the tree is brought into the form in which kube-apiserver writes it after a round
// trip through its Go types: fields in schema order, empty ones dropped (but for emit:"always"),
// unknown ones dropped and reported, quantities and times in canonical form, types checked with
// Go's messages. Custom resources: unknown fields pruned and reported, keys sorted; types are
// checked later, by validate_schema(), because there a wrong type is a 422.
#pragma once

#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "api/values/field_error.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::api {

struct DecodeReport {
  // Paths of dropped fields: in the order met; of a custom resource those of its metadata first,
  // then the others, both sorted. Each once, and not more of them than a person reads: hostile
  // bodies can hold millions.
  std::vector<std::string> unknown;

  static constexpr std::size_t kMaxUnknown = 100;  // as upstream
  static constexpr std::size_t kMaxPathBytes = 4096;
  bool full() const { return unknown.size() >= kMaxUnknown; }
  void add_unknown(std::string_view path);
};

// Uses up `in`: the result holds parts of it, brought into form in place. kind and apiVersion of a
// built-in kind are filled in if absent. Fails with kBadRequest (`json: cannot unmarshal number
// into Go struct field ConfigMap.data of type string`) without the prefix that names the kind.
Result<json::Value> decode(json::Arena& arena, json::Value in, const Resource& resource,
                           DecodeReport& report);
// The same for a type that is no resource (DeleteOptions, Binding, Scale …).
Result<json::Value> decode_type(json::Arena& arena, json::Value in, const Schema& schema,
                                bool custom, DecodeReport& report);

// Fills in the schema's defaults (custom resources), where a field is absent, or null and not
// nullable.
void apply_schema_defaults(json::Value object, const Schema& schema);

// Types, enums, limits, required fields, patterns and list keys of a custom resource's schema, in
// upstream's words. False if what is wrong keeps upstream from looking at the schema's rules (CEL);
// it says so in a last error if the schema has any. The faults stand in the order of the object's
// members.
bool validate_schema(json::Value object, const Schema& schema, FieldErrors& errors);

// The body of a protobuf request (magic, Unknown envelope, message) as a tree like the one that the
// same object in JSON would give, apiVersion and kind included; to be given to decode() like that
// one. Fails with kBadRequest.
Result<json::Value> decode_protobuf(json::Arena& arena, std::string_view body,
                                    const Registry& registry);

}  // namespace muster::api
