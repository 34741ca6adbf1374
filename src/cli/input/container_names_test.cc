#include "cli/input/container_names.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::cli {
namespace container_names_test {

std::string names(std::string_view object) {
  json::Arena arena;
  return container_names(*json::parse(arena, object)).text();
}

TEST(ContainerNames, AreThoseOfThePodsThatAnObjectMakes) {
  EXPECT_EQ(names(R"({"spec":{"initContainers":[{"name":"side"}],"containers":[{"name":"main"},)"
                  R"({"name":"more"}]}})"),
            "main, more, side (init)");
  EXPECT_EQ(names(R"({"spec":{"template":{"spec":{"containers":[{"name":"main"}]}}}})"), "main");
  EXPECT_EQ(names(R"({"spec":{"replicatedJobs":[)"
                  R"({"template":{"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}}},)"
                  R"({"template":{"spec":{"template":{"spec":{"initContainers":[{"name":"i"}],)"
                  R"("containers":[{"name":"a"},{"name":"b"}]}}}}}]}})"),
            "a, b, i (init)");
  EXPECT_EQ(names("{}"), "");
}

}  // namespace container_names_test
}  // namespace muster::cli
