#include "engine/controller_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/set/controllers.h"

namespace muster::engine {
namespace controller_list_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Controllers, StarIsAllAndNoneIsNothing) {
  EXPECT_EQ(*parse_controllers("*"), controllers::ControllerSet::names());
  EXPECT_THAT(*parse_controllers("none"), IsEmpty());
}

TEST(Controllers, NamesSelect) {
  EXPECT_THAT(*parse_controllers("jobset,job"), ElementsAre("job", "jobset"));
}

TEST(Controllers, AMinusRemoves) {
  const auto chosen = *parse_controllers("*,-job,-agent");
  EXPECT_FALSE(chosen.contains("job"));
  EXPECT_FALSE(chosen.contains("agent"));
  EXPECT_TRUE(chosen.contains("jobset"));
}

TEST(Controllers, AnUnknownNameIsRefusedByName) {
  const auto chosen = parse_controllers("*,-jbo");
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message, HasSubstr("\"jbo\""));
}

}  // namespace controller_list_test
}  // namespace muster::engine
