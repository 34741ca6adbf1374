#include "json/go_text.h"

#include <gtest/gtest.h>

#include "json/testing.h"

namespace muster::json {
namespace go_text_test {

TEST(GoText, PrintsAsGoDoes) {
  const struct {
    const char* json;
    const char* text;
  } rows[] = {
      {R"({"b":[1,"x",{"c":null,"d":true}],"a":1.5})", "map[a:1.5 b:[1 x map[c:<nil> d:true]]]"},
      {"[1e30, 1e6, 1e5, 12345678.25, 123456.5, 0.0001, 0.00001, 1e-7, 0.0, -2.5, 1234567]",
       "[1e+30 1e+06 100000 1.234567825e+07 123456.5 0.0001 1e-05 1e-07 0 -2.5 1234567]"},
      {"{}", "map[]"},
      {"[]", "[]"},
      {R"(["", "a b", ""])", "[ a b ]"},
  };
  for (const auto& row : rows) EXPECT_EQ(go_text(Tree(row.json)), row.text);
}

TEST(GoText, TypesAsGoNamesThem) {
  EXPECT_EQ(go_type(Tree("1")), "int64");
  EXPECT_EQ(go_type(Tree("1.5")), "float64");
  EXPECT_EQ(go_type(Tree("{}")), "map[string]interface {}");
}

}  // namespace go_text_test
}  // namespace muster::json
