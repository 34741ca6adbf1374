// A schema as JSON, in the words of OpenAPI v3 and its Kubernetes extensions.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"
#include "json/value.h"

namespace muster::api {

class SchemaJson {
 public:
  enum class Style {
    kReference,  // built-in kinds: types that have a name are referred to
    kInline,     // custom resources in OpenAPI: everything in its place but for ObjectMeta
    kManifest,   // custom resources in a CustomResourceDefinition: metadata is a bare object
  };
  SchemaJson(json::Arena& arena, Style style) : arena_(arena), style_(style) {}

  json::Value type(const Schema& schema);  // what the schema says, not a reference to it
  // The types that were referred to, each once, in the order met.
  const std::vector<const Schema*>& referenced() const { return referenced_; }

 private:
  json::Value node(const Schema& schema);
  json::Value element(const Schema& schema);
  json::Value reference(const Schema& schema);
  json::Value field(const Field& field);
  bool is_referred_to(const Schema& schema) const;
  bool is_bare_metadata(const Schema& schema) const;
  void add_struct(const Schema& schema, json::Value out);
  void add_scalar(const Schema& schema, json::Value out);
  void add_extensions(const Schema& schema, json::Value out);
  void add_limits(const Schema& schema, json::Value out);
  json::Value strings(const std::vector<std::string>& texts);

  json::Arena& arena_;
  Style style_;
  std::vector<const Schema*> referenced_;
  std::set<std::string_view> names_;  // of those
};

// {"$ref": "#/components/schemas/<name>"}
json::Value reference_to(json::Arena& arena, std::string_view name);

}  // namespace muster::api
