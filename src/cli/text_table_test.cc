#include "cli/text_table.h"

#include <gtest/gtest.h>

#include "cli/output.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

TEST(TextTable, AlignsItsColumns) {
  TextTable table({"Name", "State"});
  table.add({"a", "Running"});
  table.add({"longer", "x"});
  EXPECT_EQ(table.take(),
            "NAME     STATE\n"
            "a        Running\n"
            "longer   x\n");
  table.add({"b", "y"});
  EXPECT_EQ(table.take(), "b        y\n") << "rows of a watch stay in their columns";
}

TEST(TextTable, ShowsNoControlsAndNoHeaderForNothing) {
  TextTable table({"NAME"});
  EXPECT_EQ(table.take(), "");
  table.add({"a\x1b[2J\nb"});
  EXPECT_EQ(table.take(false), "a b\n");
}

TEST(ServerTable, ShowsColumnsOfLowPriorityOnlyWhenWide) {
  json::Arena arena;
  const auto table = json::parse(arena, R"({"columnDefinitions":[
    {"name":"Name","priority":0},{"name":"Node","priority":1},{"name":"Ready","priority":0}],
    "rows":[{"cells":["a","n1",3]},{"cells":["b",null,true]}]})");
  const auto narrow = columns_of(*table, false), wide = columns_of(*table, true);
  EXPECT_EQ(narrow.names, (std::vector<std::string>{"Name", "Ready"}));
  EXPECT_EQ(cells_of(table->get("rows").item(0), narrow), (std::vector<std::string>{"a", "3"}));
  EXPECT_EQ(cells_of(table->get("rows").item(1), wide),
            (std::vector<std::string>{"b", "<none>", "true"}));
}

std::string print(std::string_view form, std::string_view object) {
  json::Arena arena;
  const auto output = Output::parse(form);
  return output ? output->print(*json::parse(arena, object)) : output.error().message;
}

TEST(Output, HasItsForms) {
  constexpr std::string_view kJob =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j\u001b[2J","managedFields":[]}})";
  EXPECT_EQ(print("name", kJob), "job.batch/j\n");
  EXPECT_EQ(print("jsonpath={.metadata.name}", kJob), "j");
  EXPECT_EQ(print("yaml", kJob),
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: \"j\\u001B[2J\"\n");
  EXPECT_EQ(print("json", R"({"a":1})"), "{\n    \"a\": 1\n}\n");
  EXPECT_EQ(
      print("name", R"({"items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]})"),
      "pod/p\n");
  EXPECT_EQ(print("xml", "{}"),
            "-o xml: the forms are wide, json, yaml, name or jsonpath=TEMPLATE");
}

}  // namespace
}  // namespace muster::cli
