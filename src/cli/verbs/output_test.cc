#include "cli/verbs/output.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::cli {
namespace output_test {

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

}  // namespace output_test
}  // namespace muster::cli
