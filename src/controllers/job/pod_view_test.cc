#include "controllers/job/pod_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace pod_view_test {

using std::chrono::seconds;
using testing::kStart;
using testing::pod;
using testing::PodText;
using testing::stamp;

std::chrono::seconds finished(const Pod& view) {
  return std::chrono::duration_cast<seconds>(view.finished - kStart);
}

TEST(PodView, FinishesWhenTheLastContainerEnds) {
  EXPECT_EQ(finished(pod("p").phase("Failed").exit(0, "a", seconds(5)).exit(1, "b", seconds(3))),
            seconds(5));
}

TEST(PodView, WithoutEndsOfContainersOtherSignsTellWhenItFinished) {
  struct Row {
    std::string_view name;
    PodText pod;
    int finished;
  };
  const std::vector<Row> rows = {
      {"one still runs, so readiness tells",
       pod("p")
           .exit(1, "a", seconds(3))
           .running("b")
           .condition("Ready", "False", stamp(seconds(7))),
       7},
      {"a ready one does not tell",
       pod("p").created(seconds(1)).running("a").condition("Ready", "True", stamp(seconds(7))), 1},
      {"deletion, without its grace", pod("p").running("a").deleted(seconds(9), 30), 9},
      {"readiness before deletion",
       pod("p").condition("Ready", "False", stamp(seconds(4))).deleted(seconds(9), 30), 4},
      {"creation at last", pod("p").created(seconds(2)), 2},
      {"a sidecar that runs keeps it open",
       pod("p")
           .created(seconds(2))
           .sidecar("s")
           .exit(0, "c", seconds(5))
           .running("s", "initContainerStatuses"),
       2},
      {"a sidecar that ended last",
       pod("p")
           .sidecar("s")
           .exit(0, "c", seconds(5))
           .exit(0, "s", seconds(8), "initContainerStatuses"),
       8},
      {"plain init containers do not matter",
       pod("p").exit(0, "c", seconds(5)).exit(0, "i", seconds(9), "initContainerStatuses"), 5},
  };
  for (const Row& row : rows) EXPECT_EQ(finished(row.pod), seconds(row.finished)) << row.name;
}

TEST(PodView, ReadsOnlySoundFailureCounts) {
  const std::vector<std::pair<std::string, std::int32_t>> rows = {
      {"0", 0},  {"3", 3}, {"2147483647", 2147483647},  {"2147483648", 0},
      {"-1", 0}, {"x", 0}, {"99999999999999999999", 0}, {"", 0}};
  for (const auto& [text, count] : rows) {
    const Pod view = pod("p").annotation(kIndexFailureCount, text);
    EXPECT_EQ(view.index_failures, count) << text;
    const Pod other = pod("p").annotation(kIndexIgnoredFailureCount, text);
    EXPECT_EQ(other.index_ignored_failures, count) << text;
  }
  EXPECT_EQ(Pod(pod("p")).index_failures, 0);
}

TEST(PodView, KnowsItsIndexIfItHasOne) {
  EXPECT_EQ(Pod(pod(4)).index, 4);
  EXPECT_EQ(Pod(pod("p")).index, kNoIndex);
  for (const std::string_view text : {"", "x", "-1", "1x"})
    EXPECT_EQ(Pod(pod("p").annotation(kCompletionIndex, text)).index, kNoIndex) << text;
}

TEST(PodView, IsActiveUntilItEndsOrGoes) {
  struct Row {
    std::string_view name;
    PodText pod;
    bool active, terminating;
  };
  const std::vector<Row> rows = {
      {"pending", pod("p"), true, false},
      {"running", pod("p").phase("Running"), true, false},
      {"of unknown state", pod("p").phase("Unknown"), true, false},
      {"going", pod("p").phase("Running").deleted(), false, true},
      {"failed", pod("p").failed(), false, false},
      {"succeeded and going", pod("p").succeeded().deleted(), false, false},
  };
  for (const Row& row : rows) {
    const Pod view = row.pod;
    EXPECT_EQ(view.is_active(), row.active) << row.name;
    EXPECT_EQ(view.is_terminating(), row.terminating) << row.name;
  }
}

TEST(PodView, AddsUpRestartsAndKnowsTheWorstContainer) {
  const Pod view =
      pod("p").sidecar("c").restarts(2).restarts(5).restarts(7, "initContainerStatuses");
  EXPECT_EQ(view.restarts, 14);
  EXPECT_EQ(view.worst_restarts, 5);
  EXPECT_EQ(view.worst_sidecar_restarts, 7);
}

}  // namespace pod_view_test
}  // namespace muster::controllers::job
