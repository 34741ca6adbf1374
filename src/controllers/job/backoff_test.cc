#include "controllers/job/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace backoff_test {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;
using testing::pod;
using testing::pointers;

struct Ended {
  std::vector<int> succeeded;  // seconds after the start
  std::vector<int> failed;
};

// Each pod is another one.
class Backoff : public ::testing::Test {
 protected:
  void end(const Ended& ended) {
    std::vector<Pod> succeeded, failed;
    for (const int at : ended.succeeded)
      succeeded.push_back(pod(fmt::format("p{}", ++pods_)).succeeded(seconds(at)));
    for (const int at : ended.failed)
      failed.push_back(pod(fmt::format("p{}", ++pods_)).failed(seconds(at)));
    record_ = updated(record_, pointers(succeeded), pointers(failed));
  }
  seconds delay(int now) const {
    return std::chrono::duration_cast<seconds>(remaining_delay(record_, kStart + seconds(now)));
  }

  int pods_ = 0;
  BackoffRecord record_;
};

TEST_F(Backoff, IsNoneWithoutFailures) {
  end({});
  EXPECT_EQ(delay(0), seconds(0));
  end({.succeeded = {3}});
  EXPECT_EQ(delay(3), seconds(0));
}

TEST_F(Backoff, CountsFailuresSinceTheLastSuccess) {
  struct Row {
    std::string_view name;
    std::vector<Ended> ends;
    std::int64_t failures;
    int last;
  };
  const std::vector<Row> rows = {
      {"the first ones", {{.failed = {4, 2}}}, 2, 4},
      {"they add up", {{.failed = {1}}, {.failed = {5, 6}}}, 3, 6},
      {"a success ends the row", {{.failed = {1, 2}}, {.succeeded = {3}, .failed = {4}}}, 1, 4},
      {"only what came after it", {{.succeeded = {5}, .failed = {4, 6, 7}}}, 2, 7},
      {"the same instant is not after", {{.succeeded = {5}, .failed = {5, 6}}}, 1, 6},
      {"the latest success matters", {{.succeeded = {2, 6}, .failed = {3, 5, 8}}}, 1, 8},
  };
  for (const Row& row : rows) {
    record_ = {};
    for (const Ended& ended : row.ends) end(ended);
    EXPECT_EQ(record_.failures, row.failures) << row.name;
    EXPECT_EQ(record_.last_failure, kStart + seconds(row.last)) << row.name;
  }
}

TEST_F(Backoff, ASuccessAloneForgetsAllFailures) {
  end({.failed = {1, 2, 3}});
  end({.succeeded = {4}});
  EXPECT_EQ(record_.failures, 0);
  EXPECT_EQ(delay(4), seconds(0));
}

TEST_F(Backoff, TheSamePodCountsOnceHoweverOftenItIsSeen) {
  const std::vector<Pod> failed = {pod("a").failed(seconds(1))};
  for (int i = 0; i < 3; ++i) record_ = updated(record_, {}, pointers(failed));
  EXPECT_EQ(record_.failures, 1);
  const std::vector<Pod> more = {pod("a").failed(seconds(1)), pod("b").failed(seconds(2))};
  record_ = updated(record_, {}, pointers(more));
  EXPECT_EQ(record_.failures, 2);
}

TEST_F(Backoff, WaitsLongerAfterEachFailureAndNeverTooLong) {
  struct Row {
    std::int64_t failures;
    int elapsed;
    Duration left;
  };
  const std::vector<Row> rows = {
      {0, 0, seconds(0)},  {1, 0, seconds(10)}, {1, 4, seconds(6)},    {1, 10, seconds(0)},
      {1, 99, seconds(0)}, {2, 0, seconds(20)}, {3, 5, seconds(35)},   {6, 0, seconds(320)},
      {7, 0, minutes(10)}, {8, 60, minutes(9)}, {500, 0, minutes(10)}, {500, 600, seconds(0)},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(remaining_delay(row.failures, kStart, kStart + seconds(row.elapsed)), row.left)
        << row.failures << " failures, " << row.elapsed << " s later";
  }
}

}  // namespace backoff_test
}  // namespace muster::controllers::job
