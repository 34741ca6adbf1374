#include "api/schema/schema_json.h"

#include <gtest/gtest.h>

#include "api/schema/schema_builder.h"
#include "api/testing.h"

namespace muster::api {
namespace schema_json_test {

using Style = SchemaJson::Style;

// A kind with one field of every sort.
constexpr const char* kTypes = R"({
  "v1.Widget": {"fields": [
    {"name": "size", "type": "integer", "format": "int32", "required": true, "minimum": 1, "default": 3},
    {"name": "color", "type": "string", "enum": ["red", "blue"]},
    {"name": "part", "ref": "v1.Part"},
    {"name": "parts", "ref": "v1.Part", "container": "array", "listType": "map", "listMapKeys": ["name"], "maxItems": 8,
     "rules": [{"rule": "true", "message": "always"}]},
    {"name": "labels", "type": "string", "container": "map", "mapType": "atomic"},
    {"name": "share", "intOrString": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}]},
  "v1.Part": {"fields": [{"name": "name", "type": "string", "pattern": "^a$"}]}
})";

class SchemaJsonTest : public testing::Test {
 protected:
  SchemaJsonTest() {
    SchemaBuilder builder(pool_);
    builder.declare(types_);
    builder.finish();
  }
  std::string written(Style style, std::string_view field) {
    SchemaJson schema_json(arena_, style);
    return json::write(schema_json.type(*pool_.type("v1.Widget")).get("properties").get(field));
  }

  json::Tree types_{kTypes};
  SchemaPool pool_;
  json::Arena arena_;
};

TEST_F(SchemaJsonTest, ScalarsSayTypeFormatLimitsAndDefault) {
  EXPECT_EQ(written(Style::kInline, "size"),
            R"({"type":"integer","format":"int32","minimum":1,"default":3})");
  EXPECT_EQ(written(Style::kInline, "color"), R"({"type":"string","enum":["red","blue"]})");
  EXPECT_EQ(
      written(Style::kInline, "share"),
      R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})");
}

TEST_F(SchemaJsonTest, TypesStandInPlaceOrAreReferredTo) {
  EXPECT_EQ(written(Style::kInline, "part"),
            R"({"type":"object","properties":{"name":{"type":"string","pattern":"^a$"}}})");
  EXPECT_EQ(written(Style::kReference, "part"),
            R"({"allOf":[{"$ref":"#/components/schemas/v1.Part"}],"default":{}})");
}

TEST_F(SchemaJsonTest, ListsAndMapsSayHowTheyAreApplied) {
  EXPECT_EQ(
      written(Style::kReference, "parts"),
      R"({"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/v1.Part"}],"default":{}},"maxItems":8,)"
      R"("x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],)"
      R"("x-kubernetes-validations":[{"rule":"true","message":"always"}]})");
  EXPECT_EQ(
      written(Style::kInline, "labels"),
      R"({"type":"object","additionalProperties":{"type":"string"},"x-kubernetes-map-type":"atomic"})");
}

TEST_F(SchemaJsonTest, RequiredFieldsAreNamed) {
  SchemaJson schema_json(arena_, Style::kReference);
  EXPECT_EQ(json::write(schema_json.type(*pool_.type("v1.Widget")).get("required")), R"(["size"])");
  ASSERT_EQ(schema_json.referenced().size(), 1U) << "each type once";
  EXPECT_EQ(schema_json.referenced()[0]->type_name, "v1.Part");
}

TEST(SchemaJson, SpecialTypesHaveTheirOwnForm) {
  json::Arena arena;
  SchemaJson schema_json(arena, Style::kReference);
  const auto type = [&](const char* name) {
    const json::Value written = schema_json.type(*Registry::builtin().type(name));
    written.erase("description");
    return json::write(written);
  };
  EXPECT_EQ(type("io.k8s.apimachinery.pkg.api.resource.Quantity"),
            R"({"oneOf":[{"type":"string"},{"type":"number"}]})");
  EXPECT_EQ(type("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
            R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})");
  EXPECT_EQ(type("io.k8s.apimachinery.pkg.apis.meta.v1.Time"),
            R"({"type":"string","format":"date-time"})");
  EXPECT_EQ(type("io.k8s.apimachinery.pkg.runtime.RawExtension"), R"({"type":"object"})");
  EXPECT_EQ(type("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"), R"({"type":"object"})");
}

}  // namespace schema_json_test
}  // namespace muster::api
