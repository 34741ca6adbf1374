#include "cli/follow/heard_event.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::cli {
namespace heard_event_test {

std::optional<FollowEvent> hear(std::string_view kind, std::string_view reason,
                                std::string_view message) {
  json::Arena arena;
  return heard_event(*json::parse(
      arena,
      fmt::format(
          R"({{"metadata":{{"creationTimestamp":"2026-01-01T00:00:00Z"}},"reason":"{}","message":"{}",
                              "involvedObject":{{"kind":"{}","name":"n","uid":"u"}}}})",
          reason, message, kind)));
}

TEST(HeardEvent, TellsWhatNoObjectDoes) {
  const auto fault = hear("Pod", "FailedMount", "no secret");
  ASSERT_TRUE(fault && std::holds_alternative<event::PodWarned>(*fault));
  EXPECT_EQ(std::get<event::PodWarned>(*fault).uid, "u");
  EXPECT_EQ(std::get<event::PodWarned>(*fault).warning.message, "no secret");
  const auto podless = hear("Job", "FailedCreate", "no account");
  ASSERT_TRUE(podless && std::holds_alternative<event::JobWarned>(*podless));
  EXPECT_EQ(std::get<event::JobWarned>(*podless).job, "n");
  EXPECT_EQ(std::get<event::JobWarned>(*podless).created, parse_time("2026-01-01T00:00:00Z"));
  const auto refused = hear("JobSet", "JobCreationFailed", "job \\u001b[2Jis invalid");
  ASSERT_TRUE(refused && std::holds_alternative<event::JobsRefused>(*refused));
  EXPECT_EQ(std::get<event::JobsRefused>(*refused).job_set_uid, "u");
  EXPECT_EQ(std::get<event::JobsRefused>(*refused).message, "job is invalid");
}

TEST(HeardEvent, LeavesOutWhatObjectsTellOrWhatMayPass) {
  EXPECT_FALSE(hear("Pod", "BackOff", "again"));
  EXPECT_FALSE(hear("Job", "BackoffLimitExceeded", "it failed"));
  EXPECT_FALSE(hear("JobSet", "JobCreationFailed", "the server has no room"));
  EXPECT_FALSE(hear("Node", "FailedMount", "no secret"));
}

}  // namespace heard_event_test
}  // namespace muster::cli
