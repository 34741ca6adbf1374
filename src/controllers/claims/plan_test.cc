#include "controllers/claims/plan.h"

#include <gmock/gmock.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::claims {
namespace plan_test {

const api::Resource& kind() {
  return *api::Registry::builtin().find("", "v1", "persistentvolumeclaims");
}

Claim claim(std::string_view metadata) {
  return controllers::testing::read_as(
      read_claim, R"({"metadata":{"name":"c","namespace":"d","uid":"u","resourceVersion":"7")" +
                      std::string(metadata) + "}}");
}

constexpr std::string_view kDeleted =
    R"(,"deletionTimestamp":"2030-01-01T00:00:00Z","finalizers":["a/b","kubernetes.io/pvc-protection"])";

TEST(Claims, AreLetGoWhenDeletedAndUnused) {
  const Plan done = plan(kind(), claim(kDeleted), false);
  ASSERT_EQ(done.operations().size(), 1u);
  EXPECT_EQ(done.operations()[0].body.text(),
            R"({"metadata":{"finalizers":["a/b"],"uid":"u","resourceVersion":"7"}})");
}

TEST(Claims, StayWhileAPodUsesThem) {
  EXPECT_FALSE(plan(kind(), claim(kDeleted), true).has_writes());
}

TEST(Claims, ThatNobodyDeletedAreLeftAlone) {
  EXPECT_FALSE(
      plan(kind(), claim(R"(,"finalizers":["kubernetes.io/pvc-protection"])"), false).has_writes());
  EXPECT_FALSE(
      plan(kind(), claim(R"(,"deletionTimestamp":"2030-01-01T00:00:00Z")"), false).has_writes());
}

TEST(Claims, AreUsedByPodsThatHaveNotEnded) {
  const auto users = [](std::string_view phase) {
    return controllers::testing::read_as(
               read_user,
               R"({"metadata":{"name":"p"},"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}},)"
               R"({"name":"e","emptyDir":{}}]},"status":{"phase":")" +
                   std::string(phase) + "\"}}")
        .claims;
  };
  EXPECT_THAT(users("Pending"), ::testing::ElementsAre("c"));
  EXPECT_THAT(users("Running"), ::testing::ElementsAre("c"));
  EXPECT_THAT(users("Succeeded"), ::testing::IsEmpty());
  EXPECT_THAT(users("Failed"), ::testing::IsEmpty());
}

}  // namespace plan_test
}  // namespace muster::controllers::claims
