#include <gmock/gmock.h>

#include "api/decode/decode.h"
#include "api/schema/schema_builder.h"
#include "api/testing.h"

namespace muster::api {
namespace validate_schema_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The definition that the recorded answers were made with, in the format of the data files.
constexpr std::string_view kWidget = R"({
 "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"fields": []},
 "Widget.spec.list[]": {"fields": [
  {"name": "key", "type": "string", "required": true},
  {"name": "value", "type": "string", "default": "dv"}]},
 "Widget.spec": {"attrs": {"rules": [{"rule": "self.min <= self.size", "message": "size below min"}]}, "fields": [
  {"name": "any", "type": "object", "preserveUnknownFields": true},
  {"name": "color", "type": "string", "enum": ["red", "blue"], "default": "red"},
  {"name": "count", "type": "integer", "format": "int32"},
  {"name": "list", "container": "array", "ref": "Widget.spec.list[]", "listType": "map", "listMapKeys": ["key"],
   "maxItems": 3},
  {"name": "few", "container": "array", "type": "string", "minItems": 2},
  {"name": "map", "container": "map", "type": "string", "maxProperties": 1, "values": {"minLength": 2}},
  {"name": "min", "type": "integer", "default": 0},
  {"name": "name", "type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
  {"name": "opt", "type": "string", "nullable": true},
  {"name": "port", "anyOf": [{"type": "integer"}, {"type": "string"}], "intOrString": true},
  {"name": "size", "type": "integer", "minimum": 1, "maximum": 10, "required": true},
  {"name": "tags", "container": "array", "type": "string", "listType": "set"},
  {"name": "when", "type": "string", "format": "date-time"}]},
 "Widget": {"fields": [
  {"name": "apiVersion", "type": "string"}, {"name": "kind", "type": "string"},
  {"name": "metadata", "type": "object"}, {"name": "spec", "ref": "Widget.spec", "required": true}]}
})";

constexpr std::string_view kNotChecked =
    "<nil>: Invalid value: null: some validation rules were not checked because the object was "
    "invalid; correct the "
    "existing errors to complete validation";

struct Widget {
  Widget() {
    const json::Tree types(kWidget);
    SchemaBuilder builder(pool);
    builder.declare(types);
    builder.finish();
  }
  SchemaPool pool;
};

std::vector<std::string> faults_of(std::string_view text, const Schema& schema) {
  const json::Tree tree(text);
  FieldErrors errors;
  validate_schema(tree, schema, errors);
  std::vector<std::string> texts;
  for (const Cause& cause : errors.causes()) texts.push_back(cause.field + ": " + cause.message);
  return texts;
}

std::vector<std::string> faults(std::string_view spec) {
  const Widget widget;
  return faults_of(fmt::format(R"({{"spec":{}}})", spec), *widget.pool.type("Widget"));
}

TEST(ValidateSchema, ASoundObjectHasNoFaults) {
  EXPECT_THAT(
      faults(R"({"size":3,"list":[{"key":"x"},{"key":"y"}],"any":{"free":{"form":1}},"port":"http",
                         "opt":null,"tags":["a","b"],"when":"2020-01-01T00:00:00Z","name":"abc","count":7})"),
      IsEmpty());
  EXPECT_THAT(faults(R"({"size":3.0,"port":80})"), IsEmpty());
}

// Word for word what kube-apiserver answered to the same object.
TEST(ValidateSchema, SpeaksLikeUpstream) {
  EXPECT_THAT(
      faults(
          R"({"size":30,"color":"green","name":"TooLong","port":1.5,"when":"no","tags":["a","a"]})"),
      UnorderedElementsAre(
          "spec.size: Invalid value: 30: spec.size in body should be less than or equal to 10",
          R"(spec.color: Unsupported value: "green": supported values: "red", "blue")",
          R"(spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number")",
          R"(<nil>: Invalid value: "": "spec.port" must validate at least one schema (anyOf))",
          R"(spec.port: Invalid value: "number": spec.port in body must be of type integer: "number")",
          R"(<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.port)",
          "spec.name: Too long: may not be more than 5 bytes",
          R"(spec.when: Invalid value: "no": spec.when in body must be of type date-time: "no")",
          R"(spec.tags[1]: Duplicate value: "a")", kNotChecked));
}

TEST(ValidateSchema, OneRowPerRule) {
  struct Row {
    std::string_view spec;
    std::vector<std::string> faults;
  };
  const Row rows[] = {
      {R"({})", {"spec.size: Required value", std::string(kNotChecked)}},
      {R"({"size":"3"})",
       {R"(spec.size: Invalid value: "string": spec.size in body must be of type integer: "string")",
        std::string(kNotChecked)}},
      {R"({"size":0})",
       {"spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"}},
      {R"({"size":1,"list":[{"key":"x"},{"key":"x"}],"tags":["a","a"]})",
       {R"(spec.list[1]: Duplicate value: {"key":"x"})", R"(spec.tags[1]: Duplicate value: "a")"}},
      {R"({"size":1,"list":[{"value":"v"}]})",
       {"spec.list[0].key: Required value", std::string(kNotChecked)}},
      {R"({"size":1,"list":[{"key":"a"},{"key":"b"},{"key":"c"},{"key":"d"}]})",
       {"spec.list: Too many: 4: must have at most 3 items", std::string(kNotChecked)}},
      {R"({"size":1,"few":["a"]})",
       {"spec.few: Invalid value: 1: spec.few in body should have at least 2 items"}},
      {R"({"size":1,"map":{"k":"v"}})",
       {R"(spec.map.k: Invalid value: "v": spec.map.k in body should be at least 2 chars long)"}},
      {R"({"size":1,"map":{"k":"vv","l":"vv"}})",
       {"spec.map: Too many: 2: must have at most 1 item", std::string(kNotChecked)}},
      {R"({"size":1,"name":"A"})",
       {R"(spec.name: Invalid value: "A": spec.name in body should match '^[a-z]+$')"}},
      {R"({"size":1,"name":null})",
       {R"(spec.name: Invalid value: "null": spec.name in body must be of type string: "null")",
        std::string(kNotChecked)}},
      {R"({"size":1,"count":3000000000})",
       {R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.count)"}},
      {R"({"size":1,"count":1.5})",
       {R"(spec.count: Invalid value: "float64": spec.count in body must be of type int32: "float64")",
        R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.count)",
        std::string(kNotChecked)}},
      {R"({"size":1,"count":true})",
       {R"(spec.count: Invalid value: "": spec.count in body must be of type int32: "")",
        std::string(kNotChecked)}},
      {R"({"size":1,"count":[]})",
       {R"(spec.count: Invalid value: "array": spec.count in body must be of type integer: "array")",
        std::string(kNotChecked)}},
      {R"({"size":1,"list":[null]})",
       {R"(spec.list[0]: Invalid value: "null": spec.list[0] in body must be of type object: "null")",
        std::string(kNotChecked)}},
      {R"({"size":1,"port":true})",
       {R"(spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean")",
        R"(<nil>: Invalid value: "": "spec.port" must validate at least one schema (anyOf))",
        R"(spec.port: Invalid value: "boolean": spec.port in body must be of type integer: "boolean")",
        std::string(kNotChecked)}},
      {R"({"size":1,"color":5})",
       {R"(spec.color: Invalid value: "integer": spec.color in body must be of type string: "integer")",
        R"(spec.color: Unsupported value: 5: supported values: "red", "blue")",
        std::string(kNotChecked)}},
      {R"({"size":1,"tags":"x"})",
       {R"(spec.tags: Invalid value: "string": spec.tags in body must be of type array: "string")",
        std::string(kNotChecked)}},
      {R"([])",
       {R"(spec: Invalid value: "array": spec in body must be of type object: "array")",
        std::string(kNotChecked)}},
  };
  for (const Row& row : rows) EXPECT_EQ(faults(row.spec), row.faults) << row.spec;
}

TEST(ValidateSchema, TellsWhetherRulesMayBeLookedAt) {
  const Widget widget;
  const Schema& schema = *widget.pool.type("Widget");
  const auto may = [&](std::string_view text) {
    const json::Tree tree(text);
    FieldErrors errors;
    return validate_schema(tree, schema, errors);
  };
  EXPECT_TRUE(may(R"({"spec":{"size":1}})"));
  EXPECT_TRUE(may(R"({"spec":{"size":99}})"));
  EXPECT_FALSE(may(R"({"spec":{}})"));
}

TEST(ValidateSchema, StopsCountingAtSomePoint) {
  std::string list = R"({"size":1,"tags":[)";
  for (int i = 0; i < 5000; ++i) list += i == 0 ? "1" : ",1";
  EXPECT_LT(faults(list + "]}").size(), 110U);
}

TEST(ValidateSchema, JobSetAsRecorded) {
  const Resource& jobsets = resource("jobset.x-k8s.io/v1alpha2", "JobSet");
  EXPECT_THAT(
      faults_of(
          R"({"spec":{"failurePolicy":{"rules":[{"action":"Nope","name":"r"}]},"successPolicy":{"operator":"Some"}}})",
          *jobsets.schema),
      ElementsAre(
          R"(spec.failurePolicy.rules[0].action: Unsupported value: "Nope": supported values: "FailJobSet", )"
          R"("RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob", "RestartJobAndIgnoreMaxRestarts")",
          R"(spec.successPolicy.operator: Unsupported value: "Some": supported values: "All", "Any")",
          kNotChecked));
  EXPECT_THAT(
      faults_of(
          R"({"spec":{"gangConfig":{"gangMode":"ReplicatedGang"},"replicatedJobs":[{"name":"a","replicas":-1,
                            "template":{}},{"name":"a","template":{}}],"groupSchedulingConfig":{"timeoutAfterSeconds":0}}})",
          *jobsets.schema),
      ElementsAre(
          R"(spec.gangConfig.gangMode: Unsupported value: "ReplicatedGang": supported values: "Off", "Gang")",
          "spec.replicatedJobs[0].replicas: Invalid value: -1: spec.replicatedJobs[0].replicas in "
          "body "
          "should be greater than or equal to 0",
          "spec.groupSchedulingConfig.timeoutAfterSeconds: Invalid value: 0: "
          "spec.groupSchedulingConfig.timeoutAfterSeconds in body should be greater than or equal "
          "to 1",
          R"(spec.replicatedJobs[1]: Duplicate value: {"name":"a"})", kNotChecked));
}

}  // namespace validate_schema_test
}  // namespace muster::api
