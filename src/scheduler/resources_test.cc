#include "scheduler/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing.h"

namespace muster::scheduler {
namespace resources_test {

using ::testing::ElementsAre;

Demand demand(std::string_view spec) {
  json::Arena arena;
  return read_demand(testing::parsed(arena, spec));
}

struct Row {
  std::string_view sentence;
  std::string_view spec;
  std::int64_t milli_cpu;
};

TEST(Demand, OfProcessorTime) {
  const Row rows[] = {
      {"containers run side by side",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},
                         {"resources":{"requests":{"cpu":"500m"}}}]})",
       1500},
      {"init containers run one after the other, before the others",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[{"resources":{"requests":{"cpu":"2"}}},
                             {"resources":{"requests":{"cpu":"3"}}}]})",
       3000},
      {"sidecars run beside the containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}]})",
       3000},
      {"an init container runs beside the sidecars that started before it",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
                             {"resources":{"requests":{"cpu":"3"}}}]})",
       5000},
      {"a sidecar that starts after it does not count for it",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[{"resources":{"requests":{"cpu":"3"}}},
                             {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]})",
       3000},
      {"what the pod asks for as a whole replaces the sum",
       R"({"resources":{"requests":{"cpu":"250m"}},
           "containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       250},
      {"overhead comes on top",
       R"({"overhead":{"cpu":"100m"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       1100},
      {"who asks for nothing takes nothing", R"({"containers":[{}]})", 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(demand(row.spec).requests.milli_cpu, row.milli_cpu) << row.sentence;
  }
}

TEST(Demand, OfOtherResourcesIsSummedByName) {
  const Resources asked =
      demand(R"({"containers":[{"resources":{"requests":{"nvidia.com/gpu":"2","memory":"1Gi"}}},
                               {"resources":{"requests":{"nvidia.com/gpu":"1","a.b/c":"5"}}}]})")
          .requests;
  EXPECT_EQ(asked.other("nvidia.com/gpu"), 3);
  EXPECT_EQ(asked.other("a.b/c"), 5);
  EXPECT_EQ(asked.other("d.e/f"), 0);
  EXPECT_EQ(asked.memory, std::int64_t{1} << 30);
  EXPECT_EQ(asked.pods, 1);
}

TEST(Demand, OfContainersThatSayNothingIsGuessedForSpreading) {
  const Demand guessed = demand(R"({"containers":[{},{"resources":{"requests":{"cpu":"1"}}}]})");
  EXPECT_EQ(guessed.likely_milli_cpu, 1100);
  EXPECT_EQ(guessed.likely_memory, std::int64_t{400} << 20);
}

TEST(Shortage, NamesEverythingThatIsLacking) {
  json::Arena arena;
  const Resources all = api::read_compute_resources(
      testing::parsed(arena, R"({"cpu":"4","memory":"8Gi","pods":"1","ephemeral-storage":"1Gi"})"));
  const Resources used =
      demand(R"({"containers":[{"resources":{"requests":{"cpu":"3"}}}]})").requests;
  const Resources asked = demand(R"({"containers":[{"resources":{"requests":{
      "cpu":"2","memory":"1Gi","ephemeral-storage":"2Gi","nvidia.com/gpu":"1"}}}]})")
                              .requests;
  const Shortage lack = shortage(asked, all, used);
  EXPECT_THAT(lack.reasons,
              ElementsAre("Too many pods", "Insufficient cpu", "Insufficient ephemeral-storage",
                          "Insufficient nvidia.com/gpu"));
  EXPECT_TRUE(lack.for_ever) << "the node has no GPU at all";
  EXPECT_FALSE(fits(asked, all, used));
}

TEST(Shortage, MayPassWhenPodsGo) {
  json::Arena arena;
  const Resources all = api::read_compute_resources(
      testing::parsed(arena, R"({"cpu":"4","memory":"8Gi","pods":"10"})"));
  const Resources three =
      demand(R"({"containers":[{"resources":{"requests":{"cpu":"3"}}}]})").requests;
  EXPECT_FALSE(shortage(three, all, three).for_ever);
  EXPECT_TRUE(shortage(three, all, {}).reasons.empty());
  EXPECT_TRUE(fits(three, all, {}));
}

TEST(Resources, WhatWasAddedCanBeTakenAway) {
  const Resources one =
      demand(R"({"containers":[{"resources":{"requests":{"cpu":"1","a.b/c":"5"}}}]})").requests;
  Resources sum;
  sum += one;
  sum += one;
  sum -= one;
  EXPECT_EQ(sum, one);
}

}  // namespace resources_test
}  // namespace muster::scheduler
