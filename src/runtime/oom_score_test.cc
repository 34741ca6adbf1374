// The kernel ends pods before it ends the server.
#include "runtime/oom_score.h"

#include <gmock/gmock.h>

#include "base/number.h"
#include "runtime/read_file.h"
#include "runtime/testing.h"

namespace muster::runtime {
namespace oom_score_test {

using testing::ElementsAre;

TEST(OomScore, OfPodsIsAboveTheServersAndOrdinaryProcesses) {
  EXPECT_EQ(oom_score_of_pods(0), 500);
  EXPECT_EQ(oom_score_of_pods(200), 700);
  EXPECT_EQ(oom_score_of_pods(-900), 500) << "a server that is spared does not spare its pods";
  EXPECT_EQ(oom_score_of_pods(800), 1000) << "there is nothing above";
}

class OomScoreOfPods : public RuntimeFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    connect(GetParam());
    start_pod();
  }
  static std::string expected() {
    std::string own = read_file("/proc/self/oom_score_adj");
    own.pop_back();
    return std::to_string(oom_score_of_pods(*parse_number<int>(own)));
  }
};

TEST_P(OomScoreOfPods, IsThatOfItsProgramsAndCommandsBesideThem) {
  run_shell("cat /proc/self/oom_score_adj");
  EXPECT_THAT(log_lines(), ElementsAre("stdout F " + expected()));
  const RunId run = start(shell("exec sleep 1000", 1));
  wait_for(run, RunPhase::kRunning);
  std::string output;
  bool ended = false;
  const auto command =
      runtime_->exec({run, {"cat", "/proc/self/oom_score_adj"}},
                     {.output = [&](bool, std::string_view bytes) { output += bytes; },
                      .end =
                          [&](const Result<int>&) {
                            ended = true;
                            look();
                          }});
  wait_until([&] { return ended; });
  EXPECT_EQ(output, expected() + "\n");
}

INSTANTIATE_TEST_SUITE_P(Isolation, OomScoreOfPods, testing::Bool());

}  // namespace oom_score_test
}  // namespace muster::runtime
