#include "json/json_path.h"

#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/testing.h"

namespace muster::json {
namespace json_path_test {

constexpr std::string_view kList = R"({"items":[
  {"metadata":{"name":"a","labels":{"example.com/x":"1"}},"ready":2,
   "conditions":[{"type":"Failed","message":"no"},{"type":"Ready","message":"yes"}]},
  {"metadata":{"name":"b"},"ready":10,"conditions":[]}]})";

std::string print(std::string_view text) {
  Arena arena;
  const auto root = parse(arena, kList);
  const auto path = JsonPath::parse(text);
  return path ? path->print(*root) : path.error().message;
}

TEST(JsonPath, PrintsWhatAPathLeadsTo) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"{.items[0].metadata.name}", "a"},
      {".items[1].metadata.name", "b"},
      {"{.items[-1].ready}", "10"},
      {"{.items[*].metadata.name}", "a b"},
      {"{$.items[*].ready}", "2 10"},
      {R"({.items[0].metadata.labels.example\.com/x})", "1"},
      {"{.items[0].metadata.labels['example.com/x']}", "1"},
      {R"({.items[0].conditions[?(@.type=="Ready")].message})", "yes"},
      {R"({.items[?(@.ready>2)].metadata.name})", "b"},
      {R"({.items[?(@.metadata.labels)].metadata.name})", "a"},
      {"{..name}", "a b"},
      {"{.items[0].metadata.labels}", R"({"example.com/x":"1"})"},
      {"{.nothing.there}", ""},
      {"{.items[7].ready}", ""},
  };
  for (const auto& [path, text] : rows) EXPECT_EQ(print(path), text) << path;
}

TEST(JsonPath, RangesOverItemsWithTextBetween) {
  EXPECT_EQ(print(R"({range .items[*]}{.metadata.name}={.ready}{"\n"}{end}over)"),
            "a=2\nb=10\nover");
}

TEST(JsonPath, SaysWhatItDoesNotUnderstand) {
  EXPECT_EQ(print("{.items[0}"), "jsonpath: \"[0\" has no \"]\"");
  EXPECT_EQ(print("{range .items[*]}"), "jsonpath: {range} without {end}");
  EXPECT_EQ(print("{end}"), "jsonpath: {end} without {range}");
  EXPECT_EQ(print("{.items[x]}"), "jsonpath: \"[x]\" is not understood");
  EXPECT_EQ(print("{.items"), "jsonpath: \"{.items\" has no end");
}

constexpr const char* kColumns = R"({
  "metadata": {"name": "a", "labels": {"example.com/x": "dotted"}},
  "spec": {"suspend": false, "items": [{"n": 1}, {"n": 2}]},
  "status": {"conditions": [
    {"type": "Suspended", "status": "False"},
    {"type": "Completed", "status": "True", "reason": "a]b"},
    {"type": 7, "status": "number"}]}
})";

std::string first_at(std::string_view text) {
  const Tree object(kColumns);
  const auto path = JsonPath::parse(text);
  return path ? write(path->first(object)) : path.error().message;
}

TEST(JsonPath, ColumnsTakeTheFirstMatch) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {".metadata.name", R"("a")"},
      {R"(.metadata.labels.example\.com/x)", R"("dotted")"},
      {".metadata.labels['example.com/x']", R"("dotted")"},
      {".spec.suspend", "false"},
      {".spec.items[1].n", "2"},
      {".spec.items[*].n", "1"},
      {R"(.status.conditions[?(@.type=="Completed")].status)", R"("True")"},
      {R"(.status.conditions[?(@.type=='Suspended')].status)", R"("False")"},
      {R"(.status.conditions[?(@.type == "Completed")].reason)", R"("a]b")"},
      {R"(.status.conditions[?(@.reason=="a]b")].type)", R"("Completed")"},
      {".status.conditions[?(@.type==7)].status", R"("number")"},
      {".spec.missing.deeper", "null"},
      {".spec.items[9].n", "null"},
      {R"(.status.conditions[?(@.type=="Failed")].status)", "null"},
      {".metadata.name.deeper", "null"},
      {".spec.items[-1].n", "2"},
      {".status.conditions[?(@.reason)].type", R"("Completed")"},
  };
  for (const auto& [text, found] : cases) EXPECT_EQ(first_at(text), found) << text;
}

}  // namespace json_path_test
}  // namespace muster::json
