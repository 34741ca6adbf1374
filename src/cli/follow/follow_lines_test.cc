// Every kind of line that can be printed, and what has to happen for it.
#include "cli/follow/follow_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "cli/follow/testing.h"

namespace muster::cli {
namespace follow_lines_test {

using ::testing::ElementsAreArray;

struct LineRow {
  std::string name;
  std::function<void(Followed&)> happens;
  TextLines lines;
};

// What a failing test is called by.
void PrintTo(const LineRow& row, std::ostream* out) { *out << row.name; }

class EveryLine : public ::testing::TestWithParam<LineRow> {};

TEST_P(EveryLine, IsPrinted) {
  Followed followed;
  GetParam().happens(followed);
  EXPECT_THAT(followed.out, ElementsAreArray(GetParam().lines));
}

INSTANTIATE_TEST_SUITE_P(
    Follow, EveryLine,
    ::testing::Values(
        LineRow{"Starting", [](Followed& f) { f.set(kStarting); }, {"work: starting 2 pods"}},
        LineRow{"RunningAndTheirLogs",
                [](Followed& f) { f.set(kStarting).pods("Running").settle(); },
                {"work: starting 2 pods", "read: train-work-0-0-0 main run 0",
                 "read: train-work-0-1-0 main run 0", "work: running, 2 of 2 pods ready"}},
        LineRow{"AStageThatIsDone",
                [](Followed& f) {
                  f.running().set(R"({"replicatedJobsStatus":[{"name":"work","succeeded":1}]})");
                },
                {"work: done"}},
        LineRow{"Suspended",
                [](Followed& f) { f.suspended().suspended(); },
                {"jobset train is suspended; this starts it: RESUME", "work: suspended"}},
        LineRow{"SuspendedOnceMore",
                [](Followed& f) { f.running().suspended().set(kStarting).suspended(); },
                {"jobset train is suspended; this starts it: RESUME", "work: suspended",
                 "work: running, 2 of 2 pods ready",
                 "jobset train is suspended; this starts it: RESUME", "work: suspended"}},
        LineRow{"ALogLine",
                [](Followed& f) { f.running().line(1, "step 1\x1b[2J").line(0, "step 2"); },
                {"log: work-0-1 | step 1", "log: work-0-0 | step 2"}},
        LineRow{"ALogThatIsRefusedIsToldOnce",
                [](Followed& f) {
                  f.running().log_ends(0, 0, "the disk is gone").log_ends(0, 0, "the disk is gone");
                },
                {"error: no log of work-0-0: the disk is gone"}},
        LineRow{"ATroubleThatGoesAndComesBack",
                [](Followed& f) {
                  story::PodFacts bad = Followed::facts(0, "Pending");
                  bad.trouble = "CrashLoopBackOff: back-off 10s";
                  f.running().pod(bad).settle().pod(Followed::facts(0, "Running")).settle();
                  f.pod(bad).settle();
                },
                {"work-0-0: CrashLoopBackOff: back-off 10s", "work: running, 2 of 2 pods ready",
                 "work-0-0: CrashLoopBackOff: back-off 10s"}},
        LineRow{"AFaultThatOnlyEventsTell",
                [](Followed& f) {
                  f.set(kStarting).pod(Followed::facts(0, "Pending"));
                  f.remark(0, "FailedMount", "no secret", kFault).settle();
                },
                {"work: starting 2 pods", "work-0-0: FailedMount: no secret"}},
        LineRow{"ARemarkIsSaidOnceForAllPods",
                [](Followed& f) {
                  f.running().remark(0, "ImageIgnored", "image x is ignored", kRemark);
                  f.remark(1, "ImageIgnored", "image x is ignored", kRemark);
                },
                {"warning: image x is ignored"}},
        LineRow{"ARemarkOnAPodOfOthersIsNot",
                [](Followed& f) {
                  f.running().remark(7, "ImageIgnored", "image x is ignored", kRemark);
                },
                {}},
        LineRow{"AProgramThatIsNotThere",
                [](Followed& f) {
                  story::PodFacts bad = Followed::failed(0, 128);
                  bad.failure->reason = "StartError";
                  bad.failure->message = "no such program";
                  f.running().pod(bad).pod(bad).settle();
                },
                {"error: work-0-0: could not start: no such program"}},
        LineRow{"APodThatFitsNowhere",
                [](Followed& f) {
                  f.set(kStarting).pod(Followed::lacking_cpus()).settle();
                  f.tell(event::RoomKnown{{.nodes = 1, .most = {}, .is_here = true}}).settle();
                },
                {"work: starting 2 pods", "ask: room",
                 "work-0-0: cannot be placed: asks for 100 cpu; this machine has none"}},
        LineRow{"AJobWithoutPods",
                [](Followed& f) { f.set(kStarting).podless().settle(); },
                {"work: starting 2 pods", "job train-work-0 has no pods: no account"}},
        LineRow{"JobsThatTheServerRefuses",
                [](Followed& f) {
                  f.running().tell(event::JobsRefused{"another", "job is invalid"});
                  f.tell(event::JobsRefused{"set", "job is invalid: x.image: Required value"});
                },
                {"error: the server takes the JobSet, but not its Jobs: job is invalid: x.image: "
                 "Required value",
                 "  help: where pods are processes, image: none will do", "end: 2"}},
        LineRow{
            "ARestart",
            [](Followed& f) {
              f.running().pod(Followed::failed(1, 3)).set(kRestarted).pods("Running", 1).settle();
            },
            {"work-0-1 failed: exit code 3; restart 1 of 2", "work: starting 2 pods",
             "read: train-work-0-0-1 main run 0", "read: train-work-0-1-1 main run 0",
             "work: running, 2 of 2 pods ready"}},
        LineRow{"TheTimeIsUp",
                [](Followed& f) {
                  f.state.plan.timeout = std::chrono::seconds(90);
                  f.running().begin().after(89);
                  std::erase(f.out, "ask: server");
                  f.after(5);
                },
                {"jobset train has not ended within 90s", "end: 4"}},
        LineRow{"TheServerIsAskedEveryTenSeconds",
                [](Followed& f) { f.running().begin().after(25); },
                {"ask: server", "ask: server"}},
        LineRow{"DeletedByOthers",
                [](Followed& f) { f.running().tell(event::JobSetGone{}); },
                {"jobset train was deleted", "end: 5"}},
        LineRow{"DeletedByUs",
                [](Followed& f) {
                  f.running().tell(event::StopRequested{}).tell(event::JobSetGone{}).settle();
                },
                {}},
        LineRow{"DeletedBeforeTheFirstLook",
                [](Followed& f) { f.tell(event::JobSetGone{}); },
                {"jobset train was deleted", "end: 5"}},
        LineRow{"Completed",
                [](Followed& f) { f.running().pods("Succeeded").logs_end().set(kEndedWell); },
                {"work: done", "jobset train: jobset completed successfully", "end: 0"}},
        LineRow{"FailedWithLastLines",
                [](Followed& f) {
                  f.running().line(1, "one").line(1, "two").pod(Followed::failed(1, 3)).logs_end();
                  f.pod(Followed::failed(0, 143)).set(kEndedBadly);
                },
                {"log: work-0-1 | one", "log: work-0-1 | two", "work: failed",
                 "jobset train: no more restarts",
                 "failed: pod train-work-0-1-0, container main: exit code 3",
                 "  its last 2 lines:", "  | one", "  | two", "end: 3"}},
        LineRow{"FailedWithOneLine",
                [](Followed& f) {
                  f.running().line(0, "oh").pod(Followed::failed(0, 1)).gone(1).logs_end();
                  f.set(kEndedBadly);
                },
                {"log: work-0-0 | oh", "work: failed", "jobset train: no more restarts",
                 "failed: pod train-work-0-0-0, container main: exit code 1",
                 "  its last line:", "  | oh", "end: 3"}},
        LineRow{"FailedWithoutAWord",
                [](Followed& f) {
                  f.running().pod(Followed::failed(0, 1)).gone(1).logs_end().set(kEndedBadly);
                },
                {"work: failed", "jobset train: no more restarts",
                 "failed: pod train-work-0-0-0, container main: exit code 1", "  it wrote nothing",
                 "end: 3"}},
        LineRow{"FailedWithoutAPodThatFailed",
                [](Followed& f) { f.set(kEndedBadly); },
                {"work: failed", "jobset train: no more restarts", "end: 3"}},
        LineRow{"TheExitCodeOfAProcess",
                [](Followed& f) {
                  f.state.plan.exit_code_from = "work/0/1";
                  f.running().pod(Followed::failed(0, 1)).pod(Followed::failed(1, 42)).logs_end();
                  f.set(kEndedBadly);
                  f.out = {f.out.back()};
                },
                {"end: 42"}},
        LineRow{"AProcessThatWasStoppedHasNone",
                [](Followed& f) {
                  f.state.plan.exit_code_from = "other";
                  f.running().pods("Succeeded").logs_end().set(kEndedWell);
                },
                {"work: done", "jobset train: jobset completed successfully",
                 "no pod of other has ended by itself: the exit code is the JobSet's", "end: 0"}},
        LineRow{
            "NobodyElseCanMakeRoom",
            [](Followed& f) {
              f.set(kStarting).pod(Followed::lacking_gpus()).settle().alone().begin().after(3);
            },
            {"work: starting 2 pods",
             "work-0-0: cannot be placed: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
             "nobody else uses this server: giving up in 3s unless that changes",
             "error: pod train-work-0-0-0 cannot be placed", "end: 2"}},
        LineRow{"SomebodyElseMay",
                [](Followed& f) {
                  f.set(kStarting).pod(Followed::lacking_gpus()).settle().alone().begin().after(2);
                  f.out.clear();
                  f.tell(event::Surroundings{.is_alone = false}).after(5);
                },
                {}},
        LineRow{"AJobThatGetsNoPodsIsGivenUp",
                [](Followed& f) {
                  f.set(kStarting).podless().settle().alone().begin().after(12);
                  std::erase(f.out, "ask: server");
                },
                {"work: starting 2 pods", "job train-work-0 has no pods: no account",
                 "nobody else uses this server: giving up in 10s unless that changes",
                 "error: job train-work-0 has no pods: no account", "end: 2"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace follow_lines_test
}  // namespace muster::cli
