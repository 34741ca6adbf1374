#include "controllers/job/removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace removal_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::names;
using testing::pod;
using testing::PodText;
using testing::pointers;
using ::testing::UnorderedElementsAre;

TEST(Removal, TheOneThatCameLessFarGoesFirst) {
  struct Row {
    std::string_view name;
    PodText first, second;
  };
  const std::vector<Row> rows = {
      {"unassigned", pod("p").unassigned(), pod("p")},
      {"unassigned, whatever its phase", pod("p").unassigned().ready(), pod("p")},
      {"pending before unknown", pod("p"), pod("p").phase("Unknown")},
      {"unknown before running", pod("p").phase("Unknown"), pod("p").phase("Running")},
      {"not ready", pod("p").phase("Running"), pod("p").ready()},
      {"ready for a shorter time", pod("p").ready(seconds(9)), pod("p").ready(seconds(5))},
      {"ready since nobody knows when", pod("p").phase("Running").condition("Ready", "True"),
       pod("p").ready(seconds(5))},
      {"restarted more often", pod("p").restarts(3), pod("p").restarts(1)},
      {"whose sidecar restarted more often",
       pod("p").sidecar("c").restarts(3, "initContainerStatuses"),
       pod("p").sidecar("c").restarts(1, "initContainerStatuses")},
      {"containers before sidecars", pod("p").sidecar("c").restarts(2),
       pod("p").sidecar("c").restarts(1).restarts(9, "initContainerStatuses")},
      {"younger", pod("p").created(seconds(5)), pod("p").created(seconds(1))},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(goes_first(row.first, row.second)) << row.name;
    EXPECT_FALSE(goes_first(row.second, row.first)) << row.name;
  }
}

TEST(Removal, TakesTheLowestRanked) {
  const std::vector<Pod> pods = {pod("ready").ready(), pod("pending"),
                                 pod("running").phase("Running")};
  EXPECT_THAT(names(choose_removed(job(""), pointers(pods), 2)), ElementsAre("pending", "running"));
  EXPECT_THAT(choose_removed(job(""), pointers(pods), 0), IsEmpty());
  EXPECT_EQ(choose_removed(job(""), pointers(pods), 9).size(), 3u);
}

TEST(Removal, IndexedJobsGiveUpWhatTheyCannotUseFirst) {
  const Job j = job(R"("completionMode":"Indexed","completions":3)");
  const std::vector<Pod> pods = {pod("none").ready(),
                                 pod("high").index(3).ready(),
                                 pod("0-worse").index(0),
                                 pod("0-best").index(0).ready(),
                                 pod("0-worst").index(0).unassigned(),
                                 pod("1").index(1)};
  EXPECT_THAT(names(choose_removed(j, pointers(pods), 0)),
              UnorderedElementsAre("none", "high", "0-worse", "0-worst"));
  EXPECT_THAT(names(choose_removed(j, pointers(pods), 4)),
              UnorderedElementsAre("none", "high", "0-worse", "0-worst"));
  EXPECT_THAT(names(choose_removed(j, pointers(pods), 5)),
              UnorderedElementsAre("none", "high", "0-worse", "0-worst", "1"));
}

}  // namespace removal_test
}  // namespace muster::controllers::job
