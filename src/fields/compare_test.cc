#include "fields/compare.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace compare_test {

using json::Tree;

struct Differences {
  std::string removed;
  std::string modified;
  std::string added;

  bool operator==(const Differences&) const = default;
};
void PrintTo(const Differences& d, std::ostream* out) {
  *out << "removed " << d.removed << ", modified " << d.modified << ", added " << d.added;
}

Differences compare_text(const RootType& type, std::string_view before, std::string_view after) {
  const Tree left(before);
  const Tree right(after);
  json::Arena arena;
  const Result<Comparison> found = compare_objects(arena, type, left, right);
  if (!found) return {found.error().message, "", ""};
  return {to_json(found->removed), to_json(found->modified), to_json(found->added)};
}

struct Row {
  std::string_view rule;
  std::string_view before;
  std::string_view after;
  Differences expected;
};

void expect_rows(const std::vector<Row>& table) {
  const RootType type{ThingKind::type("Thing.spec"), true};
  for (const Row& row : table)
    EXPECT_EQ(compare_text(type, row.before, row.after), row.expected) << row.rule;
}

TEST(CompareObjects, OfCustomResources) {
  expect_rows({
      {"equal objects, whatever their order",
       R"({"text":"a","number":1})",
       R"({"number":1,"text":"a"})",
       {"{}", "{}", "{}"}},
      {"a leaf is compared by value",
       R"({"text":"a","number":1,"flag":true})",
       R"({"text":"b","number":1,"real":2})",
       {R"({"f:flag":{}})", R"({"f:text":{}})", R"({"f:real":{}})"}},
      {"1 and 1.0 are equal", R"({"real":1})", R"({"real":1.0})", {"{}", "{}", "{}"}},
      {"a node that appears adds itself and all below",
       "{}",
       R"({"nested":{"deep":{"x":"a"}},"labels":{"k":"v"}})",
       {"{}", "{}",
        R"({"f:labels":{".":{},"f:k":{}},"f:nested":{".":{},"f:deep":{".":{},"f:x":{}}}})"}},
      {"a node that vanishes likewise",
       R"({"labels":{"k":"v"}})",
       "{}",
       {R"({"f:labels":{".":{},"f:k":{}}})", "{}", "{}"}},
      {"a map that stays is no news",
       R"({"labels":{"a":"1"}})",
       R"({"labels":{"a":"2","b":"3"}})",
       {"{}", R"({"f:labels":{"f:a":{}}})", R"({"f:labels":{"f:b":{}}})"}},
      {"nor is a map that becomes empty",
       R"({"labels":{"a":"1"}})",
       R"({"labels":{}})",
       {R"({"f:labels":{"f:a":{}}})", "{}", "{}"}},
      {"an empty map is a leaf", R"({})", R"({"labels":{}})", {"{}", "{}", R"({"f:labels":{}})"}},
      {"and differs from null",
       R"({"labels":null})",
       R"({"labels":{}})",
       {"{}", R"({"f:labels":{}})", "{}"}},
      {"so do lists", R"({"tags":[]})", R"({"tags":null})", {"{}", R"({"f:tags":{}})", "{}"}},
      {"null becomes a map: its contents are new",
       R"({"labels":null})",
       R"({"labels":{"a":"1"}})",
       {"{}", "{}", R"({"f:labels":{"f:a":{}}})"}},
      {"an atomic list is compared as a whole",
       R"({"plain":["a","b"]})",
       R"({"plain":["b","a"]})",
       {"{}", R"({"f:plain":{}})", "{}"}},
  });
}

TEST(CompareObjects, ListsAndFreeForm) {
  expect_rows({
      {"sets by their items, in any order",
       R"({"tags":["a","b"]})",
       R"({"tags":["c","b"]})",
       {R"({"f:tags":{"v:\"a\"":{}}})", "{}", R"({"f:tags":{"v:\"c\"":{}}})"}},
      {"map-lists by their keys",
       R"({"items":[{"name":"x","value":"1"},{"name":"y"}]})",
       R"({"items":[{"name":"z"},{"name":"x","value":"2"}]})",
       {R"({"f:items":{"k:{\"name\":\"y\"}":{".":{},"f:name":{}}}})",
        R"({"f:items":{"k:{\"name\":\"x\"}":{"f:value":{}}}})",
        R"({"f:items":{"k:{\"name\":\"z\"}":{".":{},"f:name":{}}}})"}},
      {"the default of a key counts",
       R"({"items":[{"name":"x","ports":[{"port":80}]}]})",
       R"({"items":[{"name":"x","ports":[{"port":80,"protocol":"TCP"}]}]})",
       {"{}", "{}",
        R"({"f:items":{"k:{\"name\":\"x\"}":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:protocol":{}}}}}})"}},
      {"free form: a scalar becomes an object",
       R"({"any":{"a":1}})",
       R"({"any":{"a":{"b":1}}})",
       {"{}", R"({"f:any":{"f:a":{}}})", R"({"f:any":{"f:a":{"f:b":{}}}})"}},
      {"free form: an object becomes a list",
       R"({"any":{"a":{"b":1}}})",
       R"({"any":{"a":[1]}})",
       {R"({"f:any":{"f:a":{"f:b":{}}}})", R"({"f:any":{"f:a":{}}})", "{}"}},
      {"unknown fields beside known ones",
       R"({"open":{"known":"a","x":{"y":1}}})",
       R"({"open":{"x":{"y":2},"z":1}})",
       {R"({"f:open":{"f:known":{}}})", R"({"f:open":{"f:x":{"f:y":{}}}})",
        R"({"f:open":{"f:z":{}}})"}},
      {"duplicates that stay equal",
       R"({"items":[{"name":"x"},{"name":"x"}]})",
       R"({"items":[{"name":"x"},{"name":"x"}]})",
       {"{}", "{}", "{}"}},
      {"duplicates are compared as one unit",
       R"({"items":[{"name":"x","value":"1"},{"name":"x"}]})",
       R"({"items":[{"name":"x","value":"2"},{"name":"x"}]})",
       {"{}", R"({"f:items":{"k:{\"name\":\"x\"}":{}}})", "{}"}},
      {"an item becomes a duplicate",
       R"({"items":[{"name":"x"}]})",
       R"({"items":[{"name":"x"},{"name":"x"}]})",
       {R"({"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}})", "{}",
        R"({"f:items":{"k:{\"name\":\"x\"}":{}}})"}},
      {"and back",
       R"({"items":[{"name":"x"},{"name":"x"}]})",
       R"({"items":[{"name":"x"}]})",
       {R"({"f:items":{"k:{\"name\":\"x\"}":{}}})", "{}",
        R"({"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}})"}},
      {"items without an element",
       "{}",
       R"({"tags":["a",null]})",
       {"element 1: associative list without keys has an element that's an explicit null", "", ""}},
  });
}

// What is present of a built-in kind (1.2, presence rule).
TEST(CompareObjects, OfBuiltInKindsKnowsWhatGoStructsHold) {
  const RootType pod{resource("v1", "Pod").schema, false};
  const RootType priority{resource("scheduling.k8s.io/v1", "PriorityClass").schema, false};
  const auto added = [](const RootType& type, std::string_view after) {
    return compare_text(type, "{}", after).added;
  };
  EXPECT_EQ(added(pod, R"({"metadata":{},"spec":{"containers":null},"status":{}})"), "{}")
      << "the empty kind has its structs, and the lists that are always written";
  EXPECT_EQ(
      added(pod,
            R"({"spec":{"containers":[{"name":"c","resources":{}}],"volumes":[{"name":"v"}]}})"),
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:resources":{}}},)"
      R"("f:volumes":{".":{},"k:{\"name\":\"v\"}":{".":{},"f:name":{}}}}})");
  EXPECT_EQ(
      added(pod, R"({"spec":{"containers":[{"name":"c"}]}})"),
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:resources":{}}}}})")
      << "a new item has them too, written or not";
  EXPECT_EQ(compare_text(priority, "{}", R"({"value":0})"), (Differences{"{}", "{}", "{}"}))
      << "a number that is always written is 0 before";
  EXPECT_EQ(compare_text(priority, "{}", R"({"value":7})"),
            (Differences{"{}", R"({"f:value":{}})", "{}"}));
}

TEST(Comparison, ExcludesTrees) {
  const Tree reset(R"({"f:spec":{}})");
  const Tree left(R"({"spec":{"text":"a"},"status":{"phase":"a"}})");
  const Tree right(R"({"spec":{"labels":{"a":"b"}},"status":{"phase":"b"}})");
  json::Arena arena;
  Comparison changes = *compare_objects(arena, {ThingKind::type(), true}, left, right);
  EXPECT_FALSE(changes.empty());
  changes.exclude(*parse_fields(arena, reset));
  EXPECT_EQ(to_json(changes.changed()), R"({"f:status":{"f:phase":{}}})");
  EXPECT_TRUE(changes.removed.empty());
}

}  // namespace compare_test
}  // namespace muster::fields
