// Pods that would be given more than there is: each says so and fails, and harms nobody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing.h"

namespace muster::agent {
namespace limits_test {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LimitsTest : public ::testing::Test {
 protected:
  LimitsTest() { node_.start_agent(); }

  // The last variable would have a mebibyte.
  static std::string doubling(std::string_view more = "") {
    std::string env = R"({"name":"A0","value":"x"})";
    for (int i = 1; i <= 20; ++i)
      env += fmt::format(R"j(,{{"name":"A{0}","value":"$(A{1})$(A{1})"}})j", i, i - 1);
    return fmt::format(R"({{"restartPolicy":"Never",{}"containers":[{{"name":"a","env":[{}]}}]}})",
                       more, env);
  }
  void expect_refused() {
    EXPECT_EQ(node_.phase("p"), "Failed");
    const json::Value end = node_.container("p", "a").get({"state", "terminated"});
    EXPECT_EQ(end.get("reason").as_string(), "StartError");
    EXPECT_EQ(end.get("exitCode").as_int(), 128);
    EXPECT_THAT(end.get("message").as_string(), StartsWith("environment variable A17 has more"));
    EXPECT_TRUE(node_.machine.pods().empty()) << "nothing of it is left";
  }

  testing::TestNode node_;
};

TEST_F(LimitsTest, AnEnvironmentThatNoProgramTakesFailsThePod) {
  node_.make_pod("p", doubling());
  expect_refused();
  EXPECT_THAT(node_.events("p"),
              Contains(StartsWith("Warning Failed: Error: environment variable A17")));
  node_.start_agent();
  expect_refused();
  node_.make_pod("q", R"({"containers":[{"name":"a"}]})");
  EXPECT_TRUE(node_.runs("q", "a"));
}

TEST_F(LimitsTest, ItIsTriedAgainIfThePolicySaysSo) {
  std::string spec = doubling();
  spec.replace(spec.find("Never"), 5, "OnFailure");
  node_.make_pod("p", spec);
  EXPECT_EQ(node_.container("p", "a").get({"state", "waiting", "reason"}).as_string(),
            "CrashLoopBackOff");
  EXPECT_EQ(node_.container("p", "a").get({"lastState", "terminated", "reason"}).as_string(),
            "StartError");
}

TEST_F(LimitsTest, AtABarrierItEndsTheWait) {
  node_.make_config_map("g", "{}");
  node_.make_pod("p", doubling(R"("initContainers":[{"name":"group-scheduling-init"}],)"), "here",
                 R"({"muster.dev/barrier":"g/started-0"})");
  EXPECT_EQ(node_.phase("p"), "Failed");
  EXPECT_THAT(node_.container("p", "group-scheduling-init")
                  .get({"state", "terminated", "message"})
                  .as_string(),
              HasSubstr("container a could not be made ready: environment variable A17"));
}

TEST_F(LimitsTest, VolumesThatTakeTooMuchFailThePod) {
  node_.make_config_map("m", R"({"k":")" + std::string(1'000'000, 'x') + R"("})");
  std::string items;
  for (int i = 0; i < 70; ++i)
    items += fmt::format(R"({}{{"key":"k","path":"f{}"}})", i == 0 ? "" : ",", i);
  node_.make_pod("p", R"({"containers":[{"name":"a"}],"volumes":[{"name":"v","configMap":)"
                      R"({"name":"m","items":[)" +
                          items + "]}}]}");
  EXPECT_EQ(node_.phase("p"), "Failed");
  const json::Value status = node_.pod("p").get("status");
  EXPECT_EQ(status.get("reason").as_string(), "VolumesTooLarge");
  EXPECT_THAT(status.get("message").as_string(),
              HasSubstr("the files of the pod's volumes take more than 67108864 bytes"));
  EXPECT_THAT(node_.events("p"), Contains(StartsWith("Warning FailedMount: MountVolume.SetUp")));
  EXPECT_TRUE(node_.machine.pods().empty());
}

// It said so when the pod began; now it must not end a pod that runs.
TEST_F(LimitsTest, AVolumeThatGrowsTooLargeKeepsItsOldFiles) {
  node_.make_config_map("m", R"({"k":"small"})");
  std::string items;
  for (int i = 0; i < 70; ++i)
    items += fmt::format(R"({}{{"key":"k","path":"f{}"}})", i == 0 ? "" : ",", i);
  node_.make_pod("p", R"({"containers":[{"name":"a"}],"volumes":[{"name":"v","configMap":)"
                      R"({"name":"m","items":[)" +
                          items + "]}}]}");
  ASSERT_TRUE(node_.runs("p", "a"));
  node_.patch_config_map("m", R"({"k":")" + std::string(1'000'000, 'x') + R"("})");
  EXPECT_TRUE(node_.runs("p", "a"));
  EXPECT_EQ(node_.phase("p"), "Running");
  EXPECT_THAT(node_.events("p"), Contains(StartsWith("Warning FailedMount: MountVolume.SetUp")));
}

}  // namespace limits_test
}  // namespace muster::agent
