// What ends a run or an attach, in any order: one row per story.
#include "cli/follow/ending.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>

namespace muster::cli {
namespace ending_test {

using ::testing::ElementsAreArray;

EndingPlan run_plan() {
  return {.job_set = "train", .server = " --data-dir d", .stops_job_set = true, .can_detach = true};
}
EndingPlan private_run_plan() {
  return {.job_set = "train", .server = {}, .stops_job_set = true, .is_server_private = true};
}
EndingPlan attach_plan() { return {.job_set = "train", .server = {}, .can_detach = true}; }

// What is said and done, as text.
class Ends {
 public:
  explicit Ends(EndingPlan plan) : state(std::move(plan)) {}

  Ends& tell(const ending::Event& what) {
    for (const ending::Effect& effect : reduce(state, what, now))
      std::visit([this](const auto& one) { take(one); }, effect);
    return *this;
  }
  Ends& follow() { return tell(ending::Followed{"train"}).pods_live(); }
  Ends& pods_live() { return tell(ending::Changed{.is_deleted = false, .has_live_pods = true}); }
  Ends& pods_gone() { return tell(ending::Changed{.is_deleted = false, .has_live_pods = false}); }
  Ends& deleted() { return tell(ending::Changed{.is_deleted = true, .has_live_pods = true}); }
  Ends& all_gone() { return tell(ending::Changed{.is_deleted = true, .has_live_pods = false}); }
  Ends& signal(int number, Duration later = std::chrono::seconds(1)) {
    now += later;
    return tell(ending::Signal{number});
  }
  Ends& over(int code) { return tell(ending::Over{code}); }
  Ends& press(char key) { return tell(ending::Pressed{Key{key}}); }
  Ends& reader_goes() {
    return tell(ending::OutputFailed{.reader_has_gone = true, .why = "Broken pipe"});
  }
  Ends& disk_fills() {
    return tell(ending::OutputFailed{.reader_has_gone = false, .why = "No space left on device"});
  }

  EndingState state;
  Duration now = std::chrono::hours(1);
  std::vector<std::string> out;

 private:
  void take(const ending::Say& say) { out.push_back(say.line); }
  void take(const ending::ClearBlock&) {}
  void take(const ending::Delete&) { out.emplace_back("delete"); }
  void take(const ending::Kill&) { out.emplace_back("kill"); }
  void take(const ending::Finish&) { out.push_back(fmt::format("finish {}", state.exit_code())); }
  void take(const ending::LimitFinish& limit) {
    out.push_back(
        fmt::format("within {} ms{}",
                    std::chrono::duration_cast<std::chrono::milliseconds>(limit.limit).count(),
                    limit.while_stuck ? " of standstill" : ""));
  }
  void take(const ending::StopNow&) {
    out.push_back(fmt::format("stop now {}", state.exit_code()));
  }
};

struct EndingRow {
  std::string name;
  EndingPlan plan;
  std::function<void(Ends&)> happens;
  std::vector<std::string> out;
};
void PrintTo(const EndingRow& row, std::ostream* out) { *out << row.name; }

class EveryEnding : public ::testing::TestWithParam<EndingRow> {};

TEST_P(EveryEnding, IsAsTold) {
  Ends ends(GetParam().plan);
  GetParam().happens(ends);
  EXPECT_THAT(ends.out, ElementsAreArray(GetParam().out));
}

const std::string kStopping = "stopping train; once more kills it";
const std::string kReaderGone = "nobody reads the output any more: stopping train";

INSTANTIATE_TEST_SUITE_P(
    Run, EveryEnding,
    ::testing::Values(
        EndingRow{"ItsJobSetEnds", run_plan(), [](Ends& e) { e.follow().over(3); }, {"finish 3"}},
        EndingRow{"ItCannotBeCreated",
                  run_plan(),
                  [](Ends& e) { e.tell(ending::Refused{1}); },
                  {"finish 1"}},
        EndingRow{"ItsJobSetEndsBeforeItsPodsOnAServerOfItsOwn",
                  private_run_plan(),
                  [](Ends& e) { e.follow().over(0).tell(ending::Deleted{}).deleted().all_gone(); },
                  {"delete", "finish 0"}},
        EndingRow{"ItsTimeIsUp",
                  run_plan(),
                  [](Ends& e) { e.follow().over(kTimedOut).all_gone(); },
                  {"stopping train", "delete", "finish 4"}},
        EndingRow{"OthersHaveDeletedIt",
                  private_run_plan(),
                  [](Ends& e) { e.follow().deleted().over(kCancelled); },
                  {"finish 5"}},
        EndingRow{"CtrlC",
                  run_plan(),
                  [](Ends& e) {
                    e.follow().signal(SIGINT).tell(ending::Deleted{}).pods_gone().all_gone();
                  },
                  {kStopping, "delete", "finish 130", "within 5000 ms of standstill"}},
        EndingRow{"PodsGoBeforeTheirJobSet",
                  run_plan(),
                  [](Ends& e) { e.follow().signal(SIGTERM).deleted().all_gone(); },
                  {kStopping, "delete", "finish 143", "within 5000 ms of standstill"}},
        EndingRow{"OneKeystrokeThatComesTwice",
                  run_plan(),
                  [](Ends& e) {
                    e.follow().signal(SIGINT).signal(SIGINT, std::chrono::milliseconds(50));
                  },
                  {kStopping, "delete"}},
        EndingRow{"CtrlCTwice",
                  run_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT).signal(SIGINT).tell(ending::Killed{}); },
                  {kStopping, "delete", "killed", "kill", "finish 130", "within 100 ms"}},
        EndingRow{"CtrlCBeforeThereIsAnything",
                  run_plan(),
                  [](Ends& e) { e.signal(SIGINT); },
                  {kStopping, "finish 130", "within 5000 ms of standstill"}},
        EndingRow{"CtrlCWhileTheLastLinesAreShown",
                  run_plan(),
                  [](Ends& e) { e.follow().over(0).signal(SIGINT); },
                  {"finish 0", "stop now 130"}},
        EndingRow{"ItsDeletionIsRefused",
                  run_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT).tell(ending::DeletionRefused{}); },
                  {kStopping, "delete", "finish 130", "within 5000 ms of standstill"}},
        EndingRow{"TheJobSetEndsWhileItIsStopped",
                  run_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT).over(3).all_gone(); },
                  {kStopping, "delete", "finish 130", "within 5000 ms of standstill"}},
        EndingRow{"Detached",
                  run_plan(),
                  [](Ends& e) { e.follow().press('x').press('d').press('d'); },
                  {"train goes on; muster attach train --data-dir d comes back to it", "finish 0"}},
        EndingRow{"DetachingBeforeThereIsAnything", run_plan(), [](Ends& e) { e.press('d'); }, {}},
        EndingRow{"DetachingWhileItStops",
                  run_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT).press('d'); },
                  {kStopping, "delete"}},
        EndingRow{"DetachingFromAServerOfItsOwn",
                  private_run_plan(),
                  [](Ends& e) { e.follow().press('d'); },
                  {}},
        EndingRow{"TheServerDoesNotComeBack",
                  run_plan(),
                  [](Ends& e) { e.follow().tell(ending::ServerLost{"gone for 30s now"}); },
                  {"error: gone for 30s now", "finish 75"}},
        EndingRow{"Head",
                  private_run_plan(),
                  [](Ends& e) { e.follow().reader_goes().tell(ending::Deleted{}).all_gone(); },
                  {kReaderGone, "delete", "finish 141"}},
        EndingRow{"HeadAfterTheEnd",
                  run_plan(),
                  [](Ends& e) { e.follow().over(0).reader_goes(); },
                  {"finish 0"}},
        EndingRow{"HeadWhileItStops",
                  run_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT).reader_goes(); },
                  {kStopping, "delete"}},
        EndingRow{
            "AFullDiskIsNoSuccess",
            run_plan(),
            [](Ends& e) { e.follow().disk_fills().over(0); },
            {"error: standard output cannot be written, no log is shown: No space left on device",
             "finish 74"}},
        EndingRow{
            "AFullDiskHidesNoFailure",
            run_plan(),
            [](Ends& e) { e.follow().disk_fills().over(3); },
            {"error: standard output cannot be written, no log is shown: No space left on device",
             "finish 3"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Attach, EveryEnding,
    ::testing::Values(
        EndingRow{
            "ItsJobSetEnds", attach_plan(), [](Ends& e) { e.follow().over(3); }, {"finish 3"}},
        EndingRow{"ItsTimeIsUp",
                  attach_plan(),
                  [](Ends& e) { e.follow().over(kTimedOut); },
                  {"finish 4"}},
        EndingRow{"CtrlC",
                  attach_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT); },
                  {"train goes on", "finish 130", "within 5000 ms"}},
        EndingRow{"CtrlCTwice",
                  attach_plan(),
                  [](Ends& e) { e.follow().signal(SIGINT).signal(SIGINT); },
                  {"train goes on", "finish 130", "within 5000 ms", "stop now 130"}},
        EndingRow{"Left",
                  attach_plan(),
                  [](Ends& e) { e.follow().press('d').press('d'); },
                  {"train goes on", "finish 0"}},
        EndingRow{"Head",
                  attach_plan(),
                  [](Ends& e) { e.follow().reader_goes(); },
                  {"train goes on", "finish 141"}},
        EndingRow{"HeadAfterTheEnd",
                  attach_plan(),
                  [](Ends& e) { e.follow().over(0).reader_goes(); },
                  {"finish 0"}},
        EndingRow{
            "AFullDisk",
            attach_plan(),
            [](Ends& e) { e.follow().disk_fills(); },
            {"error: standard output cannot be written: No space left on device", "finish 74"}},
        EndingRow{"TheServerDoesNotComeBack",
                  attach_plan(),
                  [](Ends& e) { e.follow().tell(ending::ServerLost{"gone"}); },
                  {"error: gone", "finish 75"}}),
    [](const auto& row) { return row.param.name; });

TEST(Ending, LeavesSomethingBehindUnlessItIsStoppedOrDeleted) {
  EXPECT_FALSE(Ends(run_plan()).state.has_left_something());
  EXPECT_TRUE(Ends(run_plan()).follow().over(0).state.has_left_something());
  EXPECT_FALSE(Ends(run_plan()).follow().signal(SIGINT).state.has_left_something());
  EXPECT_FALSE(Ends(run_plan()).follow().deleted().state.has_left_something());
}

}  // namespace ending_test
}  // namespace muster::cli
