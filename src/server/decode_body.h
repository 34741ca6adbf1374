// The body of a write as the object that it describes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "base/http.h"
#include "base/result.h"
#include "json/value.h"

namespace muster::server {

enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

// What a body must be: the resource itself, or the type of a subresource or of options.
struct BodyKind {
  api::GroupVersionKind gvk;
  const api::Schema* schema = nullptr;
  bool custom = false;

  static BodyKind of(const api::Resource& resource);
};

struct BodyRules {
  FieldValidation validation = FieldValidation::kWarn;
  std::vector<std::string>* warnings = nullptr;  // gets what kWarn has to say
};

// JSON, YAML or protobuf by Content-Type; checked against the kind and brought into its form
// (api::decode).
Result<json::Value> decode_body(json::Arena& arena, const http::Request& request,
                                const BodyKind& kind, const api::Registry& registry,
                                const BodyRules& rules);

// Faults of a document that did not stop it from being read.
struct Looseness {
  std::vector<std::string> duplicates;  // complete texts: `duplicate field "data.a"`
  std::vector<std::string> unknown;     // complete texts: `unknown field "foo"`

  bool empty() const { return duplicates.empty() && unknown.empty(); }
  std::vector<std::string> texts(bool custom) const;  // in upstream's order
  std::string joined(bool custom) const;              // `strict decoding error: a, b`
};

// The kind's form of a tree. Fails with kBadRequest and the bare decoding error.
Result<json::Value> decode_tree(json::Arena& arena, json::Value tree, const BodyKind& kind,
                                Looseness& loose);

// An object is stored as what it says it is, so that must be what it was sent as. A built-in kind
// that says nothing is told what it is; the answer is why it belongs elsewhere, or empty.
std::string settle_builtin_kind(json::Value tree, const BodyKind& kind,
                                const api::Registry& registry);
// A custom resource has to say it itself: kInvalid if it is another.
Status check_custom_kind(json::Value tree, const BodyKind& kind);
std::string kind_is_missing(json::Value tree);  // what to say of one that does not
std::string unreadable_kind(json::Value tree);  // why kind and apiVersion are no texts, or empty

// The body as a tree, before its kind is known. Fails with kUnsupportedMediaType or kBadRequest
// (bare parse error).
Result<json::Value> parse_body(json::Arena& arena, const http::Request& request, bool custom,
                               const api::Registry& registry, Looseness& loose);

}  // namespace muster::server
