#include "controllers/job/urgency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace urgency_test {

using testing::pod;
using testing::PodText;

TEST(Urgency, WhatDecisionsDependOnIsLookedAtNow) {
  struct Row {
    std::string_view name;
    PodText before, after;
    Urgency urgency;
  };
  const std::vector<Row> rows = {
      {"nothing changed", pod("p"), pod("p"), Urgency::kNone},
      {"assigned", pod("p").unassigned(), pod("p"), Urgency::kNone},
      {"started", pod("p"), pod("p").phase("Running"), Urgency::kNone},
      {"ready", pod("p").phase("Running"), pod("p").ready(), Urgency::kSoon},
      {"not ready any more", pod("p").ready(), pod("p").phase("Running"), Urgency::kSoon},
      {"succeeded", pod("p").ready(), pod("p").succeeded(), Urgency::kNow},
      {"failed", pod("p"), pod("p").failed(), Urgency::kNow},
      {"ended otherwise", pod("p").failed(), pod("p").succeeded(), Urgency::kNow},
      {"goes", pod("p"), pod("p").deleted(), Urgency::kNow},
      {"let go", pod("p"), pod("p").untracked(), Urgency::kNow},
      {"restarted", pod("p").restarts(0), pod("p").restarts(1), Urgency::kNow},
      {"other labels", pod("p"), pod("p").label("a", "b"), Urgency::kNow},
      {"released", pod("p"), pod("p").uncontrolled(), Urgency::kNow},
      {"another owner", pod("p"), pod("p").owner("v1", "X").uncontrolled(), Urgency::kNow},
  };
  for (const Row& row : rows) {
    const Pod before = row.before, after = row.after;
    EXPECT_EQ(urgency(&before, &after), row.urgency) << row.name;
  }
  const Pod some = pod("p");
  EXPECT_EQ(urgency(nullptr, &some), Urgency::kNow);
  EXPECT_EQ(urgency(&some, nullptr), Urgency::kNow);
}

}  // namespace urgency_test
}  // namespace muster::controllers::job
