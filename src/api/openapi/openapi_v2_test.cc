#include "api/openapi/openapi_v2.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "api/decode/wire_reader.h"
#include "api/openapi/openapi.h"
#include "api/testing.h"

namespace muster::api {
namespace openapi_v2_test {

using json::Value;

const OpenApi& openapi() {
  static const OpenApi kOpenApi(Registry::builtin());
  return kOpenApi;
}

// The v2 form of one component.
std::string definition(std::string_view v3) {
  const json::Tree document(fmt::format(R"({{"components":{{"schemas":{{"T":{}}}}}}})", v3));
  return json::write(to_openapi_v2(document).get({"definitions", "T"}));
}

TEST(OpenApiV2, SaysOfATypeWhatItCan) {
  const struct {
    const char* v3;
    const char* v2;
  } rows[] = {
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string","default":""}}})",
       R"({"type":"object","required":["a"],"properties":{"a":{"type":"string"}}})"},
      {R"({"description":"d","default":{},"allOf":[{"$ref":"#/components/schemas/x.Y"}]})",
       R"({"$ref":"#/definitions/x.Y","description":"d"})"},
      {R"({"type":"array","items":{"$ref":"#/components/schemas/x.Y"},"x-kubernetes-list-type":"set"})",
       R"({"type":"array","items":{"$ref":"#/definitions/x.Y"},"x-kubernetes-list-type":"set"})"},
      {R"({"type":"object","additionalProperties":{"type":"integer","default":0}})",
       R"({"type":"object","additionalProperties":{"type":"integer"}})"},
      {R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})",
       R"({"format":"int-or-string","type":"string"})"},
      {R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"}]})",
       R"({"x-kubernetes-int-or-string":true})"},
      {R"({"type":"object","nullable":true,"properties":{"a":{}}})", "{}"},
      {R"({"type":"object","properties":{"a":{}},"x-kubernetes-preserve-unknown-fields":true})",
       R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})"},
  };
  for (const auto& [v3, v2] : rows) EXPECT_EQ(definition(v3), v2);
}

TEST(OpenApiV2, BodiesAreParametersAndTypesBelongToOperations) {
  const json::Tree v3(R"({"paths":{"/p":{
      "put":{"operationId":"replace","tags":["t"],"x-kubernetes-action":"put",
        "parameters":[{"name":"dryRun","in":"query","schema":{"type":"string","uniqueItems":true}}],
        "requestBody":{"required":true,"content":{"*/*":{"schema":{"$ref":"#/components/schemas/T"}}}},
        "responses":{"200":{"description":"OK","content":{
          "application/json":{"schema":{"$ref":"#/components/schemas/T"}},
          "application/yaml":{"schema":{"$ref":"#/components/schemas/T"}}}},"401":{"description":"No"}}},
      "parameters":[{"name":"name","in":"path","required":true,"schema":{"type":"string"}}]}}})");
  EXPECT_THAT(to_openapi_v2(v3).get({"paths", "/p"}), json::IsJson(R"({
      "put":{"operationId":"replace","tags":["t"],"x-kubernetes-action":"put",
        "consumes":["*/*"],"produces":["application/json","application/yaml"],"schemes":["https"],
        "parameters":[
          {"name":"body","in":"body","required":true,"schema":{"$ref":"#/definitions/T"}},
          {"name":"dryRun","in":"query","type":"string","uniqueItems":true}],
        "responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/T"}},
                     "401":{"description":"No"}}},
      "parameters":[{"name":"name","in":"path","required":true,"type":"string"}]})"));
}

void expect_references_hold(Value value, Value definitions) {
  constexpr std::string_view kPrefix = "#/definitions/";
  for (const json::Member& member : value.members()) {
    if (member.key == "$ref" && member.value.is_string()) {
      const std::string_view reference = member.value.as_string();
      ASSERT_TRUE(reference.starts_with(kPrefix)) << reference;
      EXPECT_TRUE(definitions.has(reference.substr(kPrefix.size()))) << reference;
    }
    expect_references_hold(member.value, definitions);
  }
  for (const Value item : value.items()) expect_references_hold(item, definitions);
}

TEST(OpenApiV2, HoldsEveryKindAndEveryReference) {
  const json::Tree tree(openapi().v2().body);
  const Value document = tree;
  expect_references_hold(document, document.get("definitions"));
  std::set<std::string> kinds;
  for (const json::Member& definition : document.get("definitions").members()) {
    for (const Value kind : definition.value.get("x-kubernetes-group-version-kind").items())
      kinds.insert(json::write(kind));
  }
  for (const Resource* resource : Registry::builtin().resources()) {
    EXPECT_TRUE(
        kinds.contains(fmt::format(R"({{"group":"{}","kind":"{}","version":"{}"}})",
                                   resource->gvk.group, resource->gvk.kind, resource->gvk.version)))
        << resource->qualified();
  }
}

// The texts of these tests have no control characters but a line break at the end; messages do, as
// tags or lengths.
bool is_message(std::string_view bytes) {
  return !bytes.empty() && std::ranges::any_of(bytes.substr(0, bytes.size() - 1),
                                               [](char c) { return c >= 0 && c < ' '; });
}

// A message as text, fields as NUMBER:VALUE.
std::string dump(std::string_view bytes) {
  std::string out;
  WireReader reader(bytes);
  while (!reader.at_end()) {
    const std::optional<WireField> field = reader.next();
    if (!field) return out + "malformed";
    out += fmt::format("{}:", field->number);
    if (field->type != WireType::kBytes) {
      out += fmt::format("{} ", field->value);
    } else if (is_message(field->bytes)) {
      out += fmt::format("{{ {}}} ", dump(field->bytes));
    } else {
      out += fmt::format("'{}' ", field->bytes);
    }
  }
  return out;
}

// Field numbers as in gnostic's OpenAPIv2.proto.
TEST(OpenApiV2, HasAProtobufForm) {
  const auto protobuf = [](std::string_view json) {
    const json::Tree tree(json);
    return dump(openapi_v2_protobuf(tree));
  };
  EXPECT_EQ(protobuf(R"({"swagger":"2.0","info":{"title":"T","version":"1"}})"),
            "1:'2.0' 2:{ 1:'T' 2:'1' } ");
  EXPECT_EQ(protobuf(R"({"definitions":{"A":{"$ref":"#/definitions/B","description":"text"}}})"),
            "9:{ 1:{ 1:'A' 2:{ 1:'#/definitions/B' 4:'text' } } } ");
  EXPECT_EQ(protobuf(R"({"definitions":{"A":{"type":"object","required":["b"],"properties":{
                "b":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}}}})"),
            "9:{ 1:{ 1:'A' 2:{ 19:'b' 22:{ 1:'object' } 25:{ 1:{ 1:'b' 2:{ 22:{ 1:'array' } "
            "23:{ 1:{ 22:{ 1:'string' } } } 31:{ 1:'x-kubernetes-list-type' 2:{ 2:'set\n' } } } } "
            "} } } } ");
  EXPECT_EQ(protobuf(R"({"definitions":{"A":{"type":"string","enum":["yes"],"maxLength":300}}})"),
            "9:{ 1:{ 1:'A' 2:{ 11:300 20:{ 2:'\"yes\"\n' } 22:{ 1:'string' } } } } ");
  EXPECT_EQ(protobuf(R"({"paths":{"/p":{"patch":{"operationId":"o","parameters":[
                {"name":"body","in":"body","required":true,"schema":{"$ref":"#/definitions/B"}},
                {"name":"q","in":"query","type":"string","uniqueItems":true}],
                "responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/B"}}}},
              "parameters":[{"name":"n","in":"path","required":true,"type":"string"}]}}})"),
            "8:{ 2:{ 1:'/p' 2:{ 8:{ 5:'o' "
            "8:{ 1:{ 1:{ 2:'body' 3:'body' 4:1 5:{ 1:'#/definitions/B' } } } } "
            "8:{ 1:{ 2:{ 3:{ 2:'query' 4:'q' 6:'string' 20:1 } } } } "
            "9:{ 1:{ 1:'200' 2:{ 1:{ 1:'OK' 2:{ 1:{ 1:'#/definitions/B' } } } } } } } "
            "9:{ 1:{ 2:{ 4:{ 1:1 2:'path' 4:'n' 5:'string' } } } } } } } ");
}

TEST(OpenApiV2, BothFormsAreMadeOnce) {
  EXPECT_EQ(&openapi().v2(), &openapi().v2());
  EXPECT_NE(openapi().v2().etag, openapi().v2_protobuf().etag);
  WireReader reader(openapi().v2_protobuf().body);
  const std::optional<WireField> swagger = reader.next();
  ASSERT_TRUE(swagger);
  EXPECT_EQ(swagger->bytes, "2.0");
}

}  // namespace openapi_v2_test
}  // namespace muster::api
