#include "cli/input/json_path.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::cli {
namespace json_path_test {

constexpr std::string_view kList = R"({"items":[
  {"metadata":{"name":"a","labels":{"example.com/x":"1"}},"ready":2,
   "conditions":[{"type":"Failed","message":"no"},{"type":"Ready","message":"yes"}]},
  {"metadata":{"name":"b"},"ready":10,"conditions":[]}]})";

std::string print(std::string_view text) {
  json::Arena arena;
  const auto root = json::parse(arena, kList);
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

}  // namespace json_path_test
}  // namespace muster::cli
