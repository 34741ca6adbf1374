#include "story/text_table.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::story {
namespace text_table_test {

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

}  // namespace text_table_test
}  // namespace muster::story
