#include "story/pod_warning.h"

#include "json/parse.h"

namespace muster::story {
namespace pod_warning_test {

std::optional<PodWarning> warning_of(const std::string& reason) {
  json::Arena arena;
  return pod_warning(
      *json::parse(arena, R"({"reason":")" + reason + R"(","message":"no \u001b[31mred"})"));
}

TEST(PodWarning, WhatAPodAsksForAndDoesNotGetIsARemark) {
  for (const std::string reason : {"ImageIgnored", "LimitsNotEnforced"}) {
    const auto warning = warning_of(reason);
    ASSERT_TRUE(warning) << reason;
    EXPECT_EQ(warning->kind, PodWarning::Kind::kRemark) << reason;
    EXPECT_EQ(warning->reason, reason);
  }
}

TEST(PodWarning, WhatKeepsAPodFromStartingIsAFault) {
  for (const std::string reason : {"FailedMount", "FailedCreatePodSandBox"}) {
    const auto warning = warning_of(reason);
    ASSERT_TRUE(warning) << reason;
    EXPECT_EQ(warning->kind, PodWarning::Kind::kFault) << reason;
  }
}

TEST(PodWarning, WhatThePodTellsByItselfIsLeftToIt) { EXPECT_FALSE(warning_of("BackOff")); }

TEST(PodWarning, NothingInItReachesTheTerminal) {
  EXPECT_FALSE(warning_of("FailedMount")->message.contains('\x1b'));
}

}  // namespace pod_warning_test
}  // namespace muster::story
