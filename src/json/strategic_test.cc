// The results and messages in these tables were recorded from kube-apiserver 1.36.
#include "json/strategic.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "json/testing.h"

namespace muster::json {
namespace strategic_test {

struct TestRules final : MergeRules {
  const MergeRules* member(std::string_view name) const override {
    const auto found = members.find(name);
    return found == members.end() ? nullptr : found->second.get();
  }
  const MergeRules* element() const override { return item.get(); }
  bool merges() const override { return strategy == "merge"; }
  bool replaces() const override { return strategy == "replace"; }
  bool retain_keys() const override { return false; }
  std::string_view merge_key() const override { return key; }
  std::string_view type_text() const override { return "PodSpec"; }

  TestRules& add(const std::string& name) {
    auto& made = members[name];
    made = std::make_shared<TestRules>();
    return *made;
  }
  TestRules& add_merging_list(const std::string& name, std::string_view merge_key) {
    TestRules& list = add(name);
    list.strategy = "merge";
    list.key = merge_key;
    list.item = std::make_shared<TestRules>();
    return *list.item;
  }

  std::map<std::string, std::shared_ptr<TestRules>, std::less<>> members;
  std::shared_ptr<TestRules> item;
  std::string strategy;
  std::string key;
};

// Containers by name, their env by name and ports by number; finalizers; args replaced.
TestRules pod_rules() {
  TestRules rules;
  TestRules& container = rules.add_merging_list("containers", "name");
  container.add_merging_list("env", "name");
  container.add_merging_list("ports", "containerPort");
  container.add("args");
  rules.add_merging_list("finalizers", "");
  rules.add("labels");
  rules.add("whole").strategy = "replace";
  return rules;
}

std::string merged(std::string_view target, std::string_view patch) {
  Tree tree(target);
  const Tree changes(patch);
  const std::string before = write(changes);
  const auto result = apply_strategic_merge(tree.arena, tree, changes, pod_rules());
  EXPECT_EQ(write(changes), before) << "the patch itself was changed";
  return result ? write(*result) : "error: " + result.error().message;
}

struct Row {
  const char* name;
  const char* target;
  const char* patch;
  const char* result;
};

void check(std::span<const Row> rows) {
  for (const Row& row : rows) EXPECT_EQ(merged(row.target, row.patch), row.result) << row.name;
}

TEST(StrategicMerge, Maps) {
  const Row rows[] = {
      {"merge", R"({"labels":{"a":"1","b":"2"}})", R"({"labels":{"b":"3","c":"4"}})",
       R"({"labels":{"a":"1","b":"3","c":"4"}})"},
      {"null deletes", R"({"labels":{"a":"1","b":"2"}})", R"({"labels":{"a":null,"z":null}})",
       R"({"labels":{"b":"2"}})"},
      {"absent: nulls and marked maps are dropped", "{}",
       R"({"labels":{"a":null,"b":{"$patch":"bogus","c":1},"d":[{"$patch":"delete"},{"e":null,"f":1}]}})",
       R"({"labels":{"d":[{"f":1}]}})"},
      {"absent: a marked map is not added", "{}", R"({"labels":{"$patch":"replace","a":"1"}})",
       "{}"},
      {"absent: other directives stay", "{}", R"({"labels":{"$retainKeys":["a"]}})",
       R"({"labels":{"$retainKeys":["a"]}})"},
      {"another type", R"({"labels":[1]})", R"({"labels":{"a":null,"b":1}})",
       R"({"labels":{"b":1}})"},
      {"replace marker", R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"replace","b":null}})",
       R"({"labels":{"b":null}})"},
      {"delete marker", R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"delete","b":"1"}})",
       R"({"labels":{}})"},
      {"replace strategy", R"({"whole":{"a":"1"}})", R"({"whole":{"b":"1"}})",
       R"({"whole":{"b":"1"}})"},
      {"unknown to the schema: maps merge, lists replace", R"({"x":{"a":1,"l":[1]}})",
       R"({"x":{"b":2,"l":[2]}})", R"({"x":{"a":1,"l":[2],"b":2}})"},
      {"retainKeys", R"({"s":{"type":"R","rolling":1}})",
       R"({"s":{"$retainKeys":["type"],"type":"X"}})", R"({"s":{"type":"X"}})"},
      {"retainKeys and a null", R"({"s":{"type":"R","rolling":1}})",
       R"({"s":{"$retainKeys":["type"],"type":"X","rolling":null}})", R"({"s":{"type":"X"}})"},
      {"null patch", R"({"a":1})", "null", R"({"a":1})"},
  };
  check(rows);
}

TEST(StrategicMerge, ListsOfMaps) {
  const char* const abc = R"({"containers":[{"name":"a","image":"1"},{"name":"b"},{"name":"c"}]})";
  const Row rows[] = {
      {"items merge and follow the patch's order", abc,
       R"({"containers":[{"name":"c","image":"x"},{"name":"a","image":"y"}]})",
       R"({"containers":[{"name":"b"},{"name":"c","image":"x"},{"name":"a","image":"y"}]})"},
      {"new items are woven in", abc,
       R"({"containers":[{"name":"n"},{"name":"b","image":"y"},{"name":"m"}]})",
       R"({"containers":[{"name":"n"},{"name":"a","image":"1"},{"name":"b","image":"y"},{"name":"m"},{"name":"c"}]})"},
      {"delete", abc,
       R"({"containers":[{"$patch":"delete","name":"a"},{"$patch":"delete","name":"z"}]})",
       R"({"containers":[{"name":"b"},{"name":"c"}]})"},
      {"delete takes all matches",
       R"({"containers":[{"name":"a","ports":[{"containerPort":80,"p":"T"},{"containerPort":80,"p":"U"}]}]})",
       R"({"containers":[{"name":"a","ports":[{"$patch":"delete","containerPort":80}]}]})",
       R"({"containers":[{"name":"a","ports":[]}]})"},
      {"merge goes to the first match",
       R"({"containers":[{"name":"a","ports":[{"containerPort":80,"p":"T"},{"containerPort":80,"p":"U"}]}]})",
       R"({"containers":[{"name":"a","ports":[{"containerPort":80,"n":"x"}]}]})",
       R"({"containers":[{"name":"a","ports":[{"containerPort":80,"p":"T","n":"x"},{"containerPort":80,"p":"U"}]}]})"},
      {"replace the list", abc,
       R"({"containers":[{"$patch":"replace","name":"w"},{"name":"z","env":null}]})",
       R"({"containers":[{"name":"z","env":null}]})"},
      {"appended items come as they are", R"({"containers":[{"name":"a"}]})",
       R"({"containers":[{"name":"n","env":[{"name":"E","$patch":"delete"}],"x":null}]})",
       R"({"containers":[{"name":"n","env":[{"name":"E","$patch":"delete"}],"x":null},{"name":"a"}]})"},
      {"nested list, null in an item",
       R"({"containers":[{"name":"a","env":[{"name":"E1","value":"1"},{"name":"E2"}]}]})",
       R"({"containers":[{"name":"a","env":[{"name":"E1","value":null},{"name":"E3"}]}]})",
       R"({"containers":[{"name":"a","env":[{"name":"E1"},{"name":"E3"},{"name":"E2"}]}]})"},
      {"lists without strategy are replaced", R"({"containers":[{"name":"a","args":["x","y"]}]})",
       R"({"containers":[{"name":"a","args":["z"]}]})",
       R"({"containers":[{"name":"a","args":["z"]}]})"},
      {"empty patch list", R"({"containers":[{"name":"a"}]})", R"({"containers":[]})",
       R"({"containers":[{"name":"a"}]})"},
      {"the key may be null", R"({"containers":[{"name":"a"}]})",
       R"({"containers":[{"name":null}]})", R"({"containers":[{"name":null},{"name":"a"}]})"},
  };
  check(rows);
}

TEST(StrategicMerge, ListsOfScalars) {
  const char* const abc = R"({"finalizers":["a","b","c"]})";
  const Row rows[] = {
      {"union in the patch's order", abc, R"({"finalizers":["c","n","a","n"]})",
       R"({"finalizers":["b","c","n","a"]})"},
      {"delete", abc, R"({"$deleteFromPrimitiveList/finalizers":["a","z"]})",
       R"({"finalizers":["b","c"]})"},
      {"delete all", abc, R"({"$deleteFromPrimitiveList/finalizers":["a","b","c"]})",
       R"({"finalizers":[]})"},
      {"delete with a bad list", abc, R"({"$deleteFromPrimitiveList/finalizers":"a"})", abc},
      {"delete from nothing", abc, R"({"$deleteFromPrimitiveList/nope":["a"]})", abc},
      {"order", abc, R"({"$setElementOrder/finalizers":["c","n","a"],"finalizers":["n"]})",
       R"({"finalizers":["b","c","n","a"]})"},
      {"order and delete", abc,
       R"({"$setElementOrder/finalizers":["c","a"],"$deleteFromPrimitiveList/finalizers":["b"]})",
       R"({"finalizers":["c","a"]})"},
  };
  check(rows);
}

TEST(StrategicMerge, SetElementOrder) {
  const char* const abc = R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})";
  const Row rows[] = {
      {"alone", abc, R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]})",
       R"({"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]})"},
      {"with a new item", abc,
       R"({"$setElementOrder/containers":[{"name":"c"},{"name":"n"},{"name":"a"}],"containers":[{"name":"n"}]})",
       R"({"containers":[{"name":"b"},{"name":"c"},{"name":"n"},{"name":"a"}]})"},
      {"with a deletion", abc,
       R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"}],"containers":[{"name":"b","$patch":"delete"}]})",
       R"({"containers":[{"name":"c"},{"name":"a"}]})"},
      {"names that nobody has", abc,
       R"({"$setElementOrder/containers":[{"name":"zz"},{"name":"c"},{"name":"c"},{"name":"a"}],"containers":[{"name":"a","x":1}]})",
       R"({"containers":[{"name":"b"},{"name":"c"},{"name":"a","x":1}]})"},
      {"no list on either side", "{}", R"({"$setElementOrder/containers":[{"name":"a"}]})", "{}"},
      {"no list in the live object", "{}",
       R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b"},{"name":"a"}]})",
       R"({"containers":[{"name":"b"},{"name":"a"}]})"},
  };
  check(rows);
}

TEST(StrategicMerge, Faults) {
  const struct {
    const char* target;
    const char* patch;
    Code code;
    const char* message;
  } rows[] = {
      {R"({"labels":{}})", R"({"labels":{"$patch":"bogus","n":"1"}})", Code::kUntranslated,
       "unknown patch type: bogus in map: map[$patch:bogus n:1]"},
      {R"({"labels":{}})", R"({"labels":{"$patch":"merge"}})", Code::kUntranslated,
       "unknown patch type: merge in map: map[$patch:merge]"},
      {R"({"labels":{}})", R"({"labels":{"$patch":7,"n":"1"}})", Code::kUntranslated,
       "unknown patch type: %!s(int64=7) in map: map[$patch:7 n:1]"},
      {R"({"labels":{}})", R"({"labels":{"$patch":null}})", Code::kUntranslated,
       "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]"},
      {R"({"s":{}})", R"({"s":{"$retainKeys":["a"],"b":1}})", Code::kBadRequest,
       "invalid patch format of retainKeys"},
      {R"({"s":{}})", R"({"s":{"$retainKeys":"a"}})", Code::kBadRequest,
       "invalid patch format of retainKeys"},
      {R"({"containers":[{"name":"a"}]})", R"({"containers":[{"image":"x"}]})", Code::kUntranslated,
       "map: map[image:x] does not contain declared merge key: name"},
      {R"({"containers":[{"name":"a"}]})", R"({"containers":[{"$patch":"delete"}]})",
       Code::kUntranslated, "map: map[$patch:delete] does not contain declared merge key: name"},
      {R"({"containers":[{"name":"a"}]})", R"({"containers":[{"$patch":"merge","name":"a"}]})",
       Code::kUntranslated, "merging lists cannot yet be specified in the patch"},
      {R"({"containers":[{"name":"a"}]})", R"({"containers":[{"$patch":"bogus","name":"a"}]})",
       Code::kUntranslated, "unknown patch type: bogus in map: map[$patch:bogus name:a]"},
      {R"({"finalizers":["a","b"]})", R"({"finalizers":[{"a":"b"}]})", Code::kUntranslated,
       "list element types are not identical: [[a b] [map[a:b]]]"},
      {R"({"containers":[{"name":"a"}]})", R"({"containers":[null]})", Code::kUntranslated,
       "list element types are not identical: [[map[name:a]] [<nil>]]"},
      {R"({"containers":[]})", R"({"containers":[[{"name":"a"}]]})", Code::kInvalid,
       "the server rejected our request due to an error in our request"},
      {R"({"containers":[{"name":"a"},{"name":"b"}]})",
       R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"b"},{"name":"a"}]})",
       Code::kUntranslated,
       "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder "
       "list:\n[map[name:a] map[name:b]]\n"},
      {"{}", R"({"$setElementOrder/finalizers":["a"],"finalizers":["b"]})", Code::kUntranslated,
       "The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n"},
      {"{}", R"({"$setElementOrder/containers":"x"})", Code::kUntranslated,
       "expected a []interface {}, but received a string"},
      {"{}", R"({"$setElementOrder/containers":["x"]})", Code::kUntranslated,
       "value for key 0 is not a map"},
      {"{}", R"({"$setElementOrder/containers":[{"x":"a"}]})", Code::kUntranslated,
       "map: map[x:a] does not contain declared merge key: name"},
      {"{}", R"({"$setElementOrder/nope":[{"name":"a"}]})", Code::kUntranslated,
       "unable to find api field in struct PodSpec for the json field \"nope\""},
      {"{}", "[1]", Code::kBadRequest,
       "json: cannot unmarshal array into Go value of type map[string]interface {}"},
  };
  for (const auto& row : rows) {
    Tree tree(row.target);
    const auto result = apply_strategic_merge(tree.arena, tree, Tree(row.patch), pod_rules());
    ASSERT_FALSE(result) << row.patch;
    EXPECT_EQ(result.error().message, row.message);
    EXPECT_EQ(result.error().code, row.code) << row.message;
  }
}

}  // namespace strategic_test
}  // namespace muster::json
