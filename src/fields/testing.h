// For tests only: files of testdata/, and a custom resource `Thing` whose schema has a place of
// every kind.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "api/schema/registry.h"
#include "api/schema/schema_builder.h"
#include "base/result.h"
#include "fields/field_set.h"
#include "fields/fields_v1.h"
#include "json/testing.h"

namespace muster::fields {

inline std::string read_testdata(std::string_view name) {
  const std::ifstream file(std::filesystem::path(FIELDS_TESTDATA) / name);
  MUSTER_ASSERT(file.good(), "a file of testdata is missing");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

class ThingKind {
 public:
  ThingKind() {
    const json::Tree types(read_testdata("thing-schema.json"));
    api::SchemaBuilder builder(pool_);
    builder.declare(types);
    builder.finish();
    for (api::Field& field : pool_.types.find("Thing")->second->fields) {
      if (field.name == "metadata") {
        field.schema =
            api::Registry::builtin().type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
      }
    }
    resource_.gvk = {"test.io", "v1", "Thing"};
    resource_.plural = "things";
    resource_.custom = true;
    resource_.schema = pool_.type("Thing");
    resource_.storage = &resource_;
    resource_.subresources = {{.name = "status", .response_kind = resource_.gvk, .verbs = {}}};
  }

  static const api::Resource& resource() {
    static const ThingKind kind;
    return kind.resource_;
  }
  static const api::Schema* type(std::string_view name = "Thing") {
    static const ThingKind kind;
    return kind.pool_.type(name);
  }

 private:
  api::SchemaPool pool_;
  api::Resource resource_;
};

// resource("v1", "Pod"), resource("test.io/v1", "Thing").
inline const api::Resource& resource(std::string_view api_version, std::string_view kind) {
  if (kind == "Thing") return ThingKind::resource();
  const api::Resource* const found = api::Registry::builtin().find_kind(api_version, kind);
  MUSTER_ASSERT(found != nullptr, fmt::format("no kind {} {}", api_version, kind).c_str());
  return *found;
}

// Sets are compared and shown as FieldsV1.
inline std::string to_json(const FieldSet& set) {
  json::Arena arena;
  return json::write(write_fields(arena, set));
}

}  // namespace muster::fields
