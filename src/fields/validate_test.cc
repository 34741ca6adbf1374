// The messages of 1.6.2, as kube-apiserver 1.36.3 gave them for a custom resource with this schema.
#include "fields/validate.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace validate_test {

using json::Tree;

std::string fault(std::string_view spec, Duplicates duplicates = Duplicates::kRefused) {
  const Tree tree(fmt::format(R"({{"apiVersion":"test.io/v1","kind":"Thing","spec":{}}})", spec));
  json::Arena arena;
  const Status status = check_document(arena, ThingKind::type(), tree, duplicates);
  return status ? "" : status.error().message;
}

struct Row {
  std::string_view spec;
  std::string_view message;
};

TEST(CheckDocument, AcceptsWhatFits) {
  for (const std::string_view spec :
       {R"({})", R"(null)",
        R"({"text":"a","number":1.5,"real":2,"flag":true,"tags":["a"],"plain":["a",null]})",
        R"({"text":null,"labels":null,"tags":null,"items":null,"maybe":null})",
        R"({"any":{"a":[{"b":1}]}})", R"({"port":{"a":1}})", R"({"items":[{"name":null}]})",
        R"({"items":[{"name":"a","ports":[{"port":1},{"port":1,"protocol":"UDP"}]}]})"}) {
    EXPECT_EQ(fault(spec), "") << spec;
  }
}

TEST(CheckDocument, SaysWhatDoesNotFitInUpstreamsWords) {
  const std::vector<Row> table = {
      {R"({"text":1})", ".spec.text: expected string, got &value.valueUnstructured{Value:1}"},
      {R"({"text":1.5})", ".spec.text: expected string, got &value.valueUnstructured{Value:1.5}"},
      {R"({"text":12345678901234567890})",
       ".spec.text: expected string, got &value.valueUnstructured{Value:1.2345678901234567e+19}"},
      {R"({"text":{"c":[1,"q",null],"b":"x","a":1}})",
       R"(.spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":1, "b":"x", )"
       R"("c":[]interface {}{1, "q", interface {}(nil)}}})"},
      {R"({"number":"x"})", ".spec.number: expected numeric (int or float), got string"},
      {R"({"number":true})", ".spec.number: expected numeric (int or float), got bool"},
      {R"({"number":{"a":1}})",
       ".spec.number: expected numeric (int or float), got map[string]interface {}"},
      {R"({"number":[1]})", ".spec.number: expected numeric (int or float), got []interface {}"},
      {R"({"flag":"x"})", ".spec.flag: expected boolean, got &{x}"},
      {R"({"flag":""})", ".spec.flag: expected boolean, got &{}"},
      {R"({"flag":{"c":1,"a":"b"}})", ".spec.flag: expected boolean, got &{map[a:b c:1]}"},
      {R"({"flag":[1,"a",true,null,1.5]})",
       ".spec.flag: expected boolean, got &{[1 a true <nil> 1.5]}"},
      {R"({"flag":1e21})", ".spec.flag: expected boolean, got &{1e+21}"},
      {R"({"plain":"x"})", ".spec.plain: expected list, got &{x}"},
      {R"({"labels":["x",1]})", ".spec.labels: expected map, got &{[x 1]}"},
      {R"({"nested":5})", ".spec.nested: expected map, got &{5}"},
      {R"("x")", ".spec: expected map, got &{x}"},
      {R"({"plain":["a",2]})",
       ".spec.plain[1]: expected string, got &value.valueUnstructured{Value:2}"},
      {R"({"tags":[{"a":1}]})",
       ".spec.tags: element 0: associative list without keys has an element that's a map type"},
      {R"({"tags":["a",null]})",
       ".spec.tags: element 1: associative list without keys has an element that's an explicit "
       "null"},
      {R"({"tags":[["a"]]})",
       ".spec.tags: element 0: not supported: associative list with lists as elements"},
      {R"({"tags":["a","b","a"]})", R"(.spec.tags: duplicate entries for key [="a"])"},
      {R"({"items":[null]})",
       ".spec.items: element 0: associative list with keys may not have a null element"},
      {R"({"items":["x"]})",
       ".spec.items: element 0: associative list with keys may not have non-map elements"},
      {R"({"items":[{"value":"x"}]})",
       R"(.spec.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't )"
       R"(have default values for any key fields))"},
      {R"({"items":[{"name":"a"},{"name":"b"},{"name":"a"}]})",
       R"(.spec.items: duplicate entries for key [name="a"])"},
      {R"({"items":[{"name":"a","ports":[{"port":1},{"port":1,"protocol":"TCP"}]}]})",
       R"(.spec.items[name="a"].ports: duplicate entries for key [port=1,protocol="TCP"])"},
      {R"({"zzz":2,"bogus":1,"text":1,"number":"x"})", ".spec.bogus: field not declared in schema"},
      {R"({"groups":{"g":{"zz":1}}})", ".spec.groups.g.zz: field not declared in schema"},
      {R"({"open":{"known":1,"other":2}})",
       ".spec.open.known: expected string, got &value.valueUnstructured{Value:1}"},
      {R"({"items":[{"name":"a","count":"x","env":{"k":1}}]})",
       "errors:\n  .spec.items[name=\"a\"].count: expected numeric (int or float), got string\n"
       "  .spec.items[name=\"a\"].env.k: expected string, got &value.valueUnstructured{Value:1}"},
      {R"({"items":[{"name":1}]})",
       R"(.spec.items[name=1].name: expected string, got &value.valueUnstructured{Value:1})"},
  };
  for (const Row& row : table) EXPECT_EQ(fault(row.spec), row.message) << row.spec;
}

TEST(CheckDocument, LiveObjectsMayHaveDuplicates) {
  EXPECT_EQ(fault(R"({"tags":["a","a"]})", Duplicates::kAllowed), "");
  EXPECT_NE(fault(R"({"tags":["a",null]})", Duplicates::kAllowed), "");
}

TEST(CheckDocument, OfBuiltInKinds) {
  json::Arena arena;
  const auto message = [&](std::string_view kind, std::string_view text) {
    const Tree tree(text);
    const Status status =
        check_document(arena, resource("v1", kind).schema, tree, Duplicates::kRefused);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(message("ConfigMap", R"({"data":{"k":1}})"),
            ".data.k: expected string, got &value.valueUnstructured{Value:1}");
  EXPECT_EQ(message("ConfigMap", R"({"bar":1})"), ".bar: field not declared in schema");
  EXPECT_EQ(
      message("Pod", R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":2}}}]}})"),
      "");
  EXPECT_EQ(message("Service", R"({"spec":{"ports":[{"port":80},{"port":80,"protocol":"TCP"}]}})"),
            R"(.spec.ports: duplicate entries for key [port=80,protocol="TCP"])");
  EXPECT_EQ(message("Pod", R"({"status":{"startTime":{"a":1}}})"),
            ".status.startTime: expected any scalar, got &{map[a:1]}");
}

}  // namespace validate_test
}  // namespace muster::fields
