// One row per sentence of apimachinery 1.2.
#include "fields/document_set.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace document_set_test {

using json::Tree;

struct Row {
  std::string_view rule;
  std::string_view document;  // below spec
  std::string_view fields;
};

std::string set_text(const api::Schema* type, std::string_view document) {
  const Tree tree(document);
  json::Arena arena;
  return to_json(set_of_document(arena, type, tree));
}

TEST(SetOfDocument, FollowsTheSchemaOfEachPlace) {
  const std::vector<Row> table = {
      {"a scalar is a leaf", R"({"text":"a","number":1,"flag":false})",
       R"({"f:flag":{},"f:number":{},"f:text":{}})"},
      {"a list without marker is one leaf", R"({"plain":["a","b"]})", R"({"f:plain":{}})"},
      {"also when it is empty", R"({"plain":[]})", R"({"f:plain":{}})"},
      {"every item of a set is owned by itself", R"({"tags":["b","a"]})",
       R"({"f:tags":{"v:\"a\"":{},"v:\"b\"":{}}})"},
      {"an item of a map-list is a member, with its fields below",
       R"({"items":[{"name":"x","value":"v"}]})",
       R"({"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:value":{}}}})"},
      {"an empty set or map-list owns nothing", R"({"tags":[],"items":[]})", "{}"},
      {"a struct field is no member", R"({"nested":{"deep":{"x":"a"}}})",
       R"({"f:nested":{"f:deep":{"f:x":{}}}})"},
      {"unless it is empty", R"({"nested":{"deep":{}}})", R"({"f:nested":{"f:deep":{}}})"},
      {"or null", R"({"nested":null,"text":null,"tags":null})",
       R"({"f:nested":{},"f:tags":{},"f:text":{}})"},
      {"each key of a map is a member, the map is not", R"({"labels":{"a":"1","b":"2"}})",
       R"({"f:labels":{"f:a":{},"f:b":{}}})"},
      {"unless it is empty or null", R"({"labels":{}})", R"({"f:labels":{}})"},
      {"keys of a map of structs are members", R"({"groups":{"g":{"a":"1"}}})",
       R"({"f:groups":{"f:g":{".":{},"f:a":{}}}})"},
      {"an atomic map is one leaf", R"({"selector":{"a":"1"}})", R"({"f:selector":{}})"},
      {"so is an atomic struct", R"({"ref":{"kind":"k","name":"n"}})", R"({"f:ref":{}})"},
      {"IntOrString is a leaf", R"({"port":"http"})", R"({"f:port":{}})"},
      {"free form: every level of maps is a member, lists are leaves",
       R"({"any":{"a":{"b":[{"c":1}]},"d":null,"e":{}}})",
       R"({"f:any":{"f:a":{".":{},"f:b":{}},"f:d":{},"f:e":{}}})"},
      {"an empty object of free form", R"({"any":{}})", R"({"f:any":{}})"},
      {"unknown fields beside known ones", R"({"open":{"known":"a","other":{"x":1}}})",
       R"({"f:open":{"f:known":{},"f:other":{".":{},"f:x":{}}}})"},
      {"the default of a key is in the element, but not owned",
       R"({"items":[{"name":"x","ports":[{"port":80}]}]})",
       R"({"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}})"},
      {"a key without default is left out of the element",
       R"({"items":[{"name":"x","ports":[{"note":"n"}]}]})",
       R"({"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:ports":{"k:{\"protocol\":\"TCP\"}":{".":{},"f:note":{}}}}}})"},
      {"of duplicates only the element",
       R"({"items":[{"name":"x","value":"1"},{"name":"y"},{"name":"x","value":"2"}]})",
       R"({"f:items":{"k:{\"name\":\"x\"}":{},"k:{\"name\":\"y\"}":{".":{},"f:name":{}}}})"},
  };
  for (const Row& row : table) {
    EXPECT_EQ(set_text(ThingKind::type("Thing.spec"), row.document), row.fields) << row.rule;
  }
}

TEST(SetOfDocument, OfBuiltInKinds) {
  const api::Schema* const service = resource("v1", "Service").schema;
  EXPECT_EQ(
      set_text(service, R"({"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}})"),
      R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:selector":{}}})");
  const api::Schema* const pod = resource("v1", "Pod").schema;
  EXPECT_EQ(
      set_text(pod,
               R"({"metadata":{"ownerReferences":[{"uid":"u","name":"n"}],"finalizers":["f"]}})"),
      R"({"f:metadata":{"f:finalizers":{"v:\"f\"":{}},"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}})");
  EXPECT_EQ(set_text(pod, R"({"spec":{"containers":[{"image":"x"}]}})"),
            R"({"f:spec":{"f:containers":{"k:{\"name\":\"\"}":{".":{},"f:image":{}}}}})")
      << "the name of a container has the default \"\"";
}

std::string with_parents(std::string_view fields) {
  const Tree tree(fields);
  json::Arena arena;
  return to_json(with_parent_fields(ThingKind::type(), *parse_fields(arena, tree)));
}

TEST(WithParentFields, AddsStructFieldsButNoMapKeysOrItems) {
  EXPECT_EQ(with_parents(R"({"f:spec":{"f:nested":{"f:deep":{"f:x":{}}}}})"),
            R"({"f:spec":{".":{},"f:nested":{".":{},"f:deep":{".":{},"f:x":{}}}}})");
  EXPECT_EQ(with_parents(R"({"f:spec":{"f:groups":{"f:g":{"f:a":{}}}}})"),
            R"({"f:spec":{".":{},"f:groups":{".":{},"f:g":{"f:a":{}}}}})");
  EXPECT_EQ(
      with_parents(R"({"f:spec":{"f:items":{"k:{\"name\":\"x\"}":{"f:env":{"f:A":{}}}}}})"),
      R"({"f:spec":{".":{},"f:items":{".":{},"k:{\"name\":\"x\"}":{"f:env":{".":{},"f:A":{}}}}}})");
}

TEST(CollapseAtomics, PutsThePlaceForThePathsBelowIt) {
  const Tree tree(
      R"({"f:spec":{"f:plain":{"i:0":{}},"f:selector":{"f:a":{}},"f:labels":{"f:a":{}},"f:any":{"f:a":{"f:b":{}}}}})");
  json::Arena arena;
  FieldSet set = *parse_fields(arena, tree);
  collapse_atomics(ThingKind::type(), set);
  EXPECT_EQ(
      to_json(set),
      R"({"f:spec":{"f:any":{"f:a":{"f:b":{}}},"f:labels":{"f:a":{}},"f:plain":{},"f:selector":{}}})");
}

}  // namespace document_set_test
}  // namespace muster::fields
