#include "fields/merge.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace merge_test {

using json::Tree;

std::string merged(std::string_view live, std::string_view document) {
  const Tree left(live);
  const Tree right(document);
  json::Arena arena;
  return json::write(merge(arena, ThingKind::type("Thing.spec"), left, right));
}

struct Row {
  std::string_view rule;
  std::string_view live;
  std::string_view document;
  std::string_view merged;
};

TEST(Merge, TakesTheDocumentIntoTheLiveObject) {
  const std::vector<Row> table = {
      {"leaves of the document win", R"({"text":"a","plain":["x"]})",
       R"({"text":"b","plain":["y"]})", R"({"text":"b","plain":["y"]})"},
      {"structs and maps are united", R"({"labels":{"a":"1"},"nested":{"z":"a"}})",
       R"({"labels":{"b":"2"},"nested":{"deep":{"x":"b"}}})",
       R"({"labels":{"a":"1","b":"2"},"nested":{"z":"a","deep":{"x":"b"}}})"},
      {"atomic maps are not", R"({"selector":{"a":"1"}})", R"({"selector":{"b":"2"}})",
       R"({"selector":{"b":"2"}})"},
      {"null is a value for a leaf", R"({"text":"a"})", R"({"text":null})", R"({"text":null})"},
      {"but takes nothing out of a map or list",
       R"({"labels":{"a":"1"},"tags":["x"],"any":{"q":{"a":1}}})",
       R"({"labels":null,"tags":null,"any":{"q":null}})",
       R"({"labels":{"a":"1"},"tags":["x"],"any":{"q":{"a":1}}})"},
      {"nor does an empty one", R"({"labels":{"a":"1"},"tags":["x"]})",
       R"({"labels":{},"tags":[]})", R"({"labels":{"a":"1"},"tags":["x"]})"},
      {"empty stays apart from null", R"({"labels":null,"tags":null})",
       R"({"labels":{},"tags":[]})", R"({"labels":{},"tags":[]})"},
      {"items are merged by key", R"({"items":[{"name":"x","value":"1"},{"name":"y"}]})",
       R"({"items":[{"name":"x","count":1}]})",
       R"({"items":[{"name":"x","value":"1","count":1},{"name":"y"}]})"},
      {"free form: another kind of value replaces", R"({"any":{"a":{"b":1},"c":1,"d":[1]}})",
       R"({"any":{"a":1,"c":{"d":1},"d":null}})", R"({"any":{"a":1,"c":{"d":1},"d":null}})"},
      {"free form: objects are united, lists replaced", R"({"any":{"a":{"b":1},"l":[1,2]}})",
       R"({"any":{"a":{"c":1},"l":[3]}})", R"({"any":{"a":{"b":1,"c":1},"l":[3]}})"},
  };
  for (const Row& row : table) EXPECT_EQ(merged(row.live, row.document), row.merged) << row.rule;
}

std::string list(std::string_view letters) {
  std::string text;
  for (const char letter : letters)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ",", letter);
  return R"({"tags":[)" + text + "]}";
}

struct OrderRow {
  std::string_view live;
  std::string_view document;
  std::string_view merged;
};

// 1.7: items of the document in its order, live-only items next to their live neighbours.
TEST(Merge, OrderOfLists) {
  const std::vector<OrderRow> table = {
      {"", "ab", "ab"},
      {"ab", "", "ab"},
      {"ab", "ab", "ab"},
      {"ab", "ba", "ba"},
      {"abc", "ca", "bca"},
      {"abc", "x", "abcx"},
      {"abc", "xb", "axbc"},
      {"abc", "bx", "abcx"},
      {"abcd", "dxa", "bcdxa"},
      {"abcde", "eca", "bdeca"},
      {"abc", "xcya", "bxcya"},
      {"abc", "axbyc", "axbyc"},
      {"pabq", "ba", "pbqa"},
      {"abcdef", "fx", "abcdefx"},
      // Duplicates in the live list: the document's item stands for both.
      {"aab", "a", "ab"},
      {"aba", "a", "ab"},
      {"aax", "an", "anx"},
      {"aa", "", "aa"},
  };
  for (const OrderRow& row : table) {
    EXPECT_EQ(merged(list(row.live), list(row.document)), list(row.merged))
        << row.live << " with " << row.document;
  }
}

std::string removed(std::string_view object, std::string_view fields) {
  const Tree tree(object);
  const Tree paths(fields);
  json::Arena arena;
  return json::write(
      remove(arena, ThingKind::type("Thing.spec"), tree, *parse_fields(arena, paths)));
}

struct RemoveRow {
  std::string_view rule;
  std::string_view object;
  std::string_view fields;
  std::string_view left;
};

TEST(Remove, TakesPathsOutOfAnObject) {
  const std::vector<RemoveRow> table = {
      {"nothing", R"({"text":"a"})", "{}", R"({"text":"a"})"},
      {"leaves and whole trees", R"({"text":"a","nested":{"z":"b"},"number":1})",
       R"({"f:text":{},"f:nested":{}})", R"({"number":1})"},
      {"paths that are not there", R"({"number":1})", R"({"f:text":{},"f:labels":{"f:a":{}}})",
       R"({"number":1})"},
      {"a field of an item", R"({"items":[{"name":"x","value":"1"},{"name":"y"}]})",
       R"({"f:items":{"k:{\"name\":\"x\"}":{"f:value":{}}}})",
       R"({"items":[{"name":"x"},{"name":"y"}]})"},
      {"an item", R"({"items":[{"name":"x","value":"1"},{"name":"y"}],"tags":["a","b"]})",
       R"({"f:items":{"k:{\"name\":\"x\"}":{}},"f:tags":{"v:\"a\"":{}}})",
       R"({"items":[{"name":"y"}],"tags":["b"]})"},
      {"what loses all its contents becomes null",
       R"({"number":1,"labels":{"a":"1"},"tags":["x"]})",
       R"({"f:labels":{"f:a":{}},"f:tags":{"v:\"x\"":{}}})",
       R"({"number":1,"labels":null,"tags":null})"},
      {"free form", R"({"any":{"a":{"b":1,"c":2},"l":[1]}})", R"({"f:any":{"f:a":{"f:b":{}}}})",
       R"({"any":{"a":{"c":2},"l":[1]}})"},
  };
  for (const RemoveRow& row : table)
    EXPECT_EQ(removed(row.object, row.fields), row.left) << row.rule;
}

}  // namespace merge_test
}  // namespace muster::fields
