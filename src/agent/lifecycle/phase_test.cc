// The phase over all combinations of container statuses, and the sentences of pod-lifecycle 1.1.
#include "agent/lifecycle/phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::agent {
namespace phase_test {

PodView pod_of(std::string_view spec) {
  json::Arena arena;
  return read_pod_view(*json::parse(arena, fmt::format(R"({{"spec":{}}})", spec)));
}

ContainerStatus waiting() { return {}; }
ContainerStatus crashed(int code) {
  ContainerStatus status;
  status.last = Terminated{.code = code};
  return status;
}
ContainerStatus running(bool started = true) {
  ContainerStatus status;
  status.state = ContainerStatus::State::kRunning;
  status.started = started;
  return status;
}
ContainerStatus ended(int code) {
  ContainerStatus status;
  status.state = ContainerStatus::State::kTerminated;
  status.terminated.code = code;
  return status;
}

Phase phase(const PodView& pod, const std::vector<ContainerStatus>& statuses, bool finished = false,
            bool initialized = true) {
  return phase_of(pod, {.statuses = statuses, .finished = finished, .initialized = initialized});
}

const PodView kAlways = pod_of(R"({"containers":[{"name":"a"}]})");
const PodView kOnFailure = pod_of(R"({"restartPolicy":"OnFailure","containers":[{"name":"a"}]})");
const PodView kNever = pod_of(R"({"restartPolicy":"Never","containers":[{"name":"a"}]})");

TEST(PodPhase, FirstStartThatHangsIsPending) {
  EXPECT_EQ(phase(kNever, {waiting()}), Phase::kPending);
}

TEST(PodPhase, CrashLoopStaysRunning) {
  EXPECT_EQ(phase(kAlways, {crashed(1)}), Phase::kRunning);
  EXPECT_EQ(phase(kOnFailure, {crashed(1)}), Phase::kRunning);
}

TEST(PodPhase, EndsFollowTheRestartPolicy) {
  EXPECT_EQ(phase(kAlways, {ended(0)}), Phase::kRunning) << "it will be restarted";
  EXPECT_EQ(phase(kOnFailure, {ended(0)}), Phase::kSucceeded);
  EXPECT_EQ(phase(kOnFailure, {ended(1)}), Phase::kRunning);
  EXPECT_EQ(phase(kNever, {ended(0)}), Phase::kSucceeded);
  EXPECT_EQ(phase(kNever, {ended(1)}), Phase::kFailed);
}

TEST(PodPhase, PodThatIsBeingFinishedIsJudgedByItsExitCodesAlone) {
  EXPECT_EQ(phase(kAlways, {ended(0)}, true), Phase::kSucceeded);
  EXPECT_EQ(phase(kAlways, {ended(143)}, true), Phase::kFailed);
  EXPECT_EQ(phase(kAlways, {crashed(0)}, true), Phase::kFailed)
      << "waiting never counts as success";
}

TEST(PodPhase, OneOfTwoDoneIsRunning) {
  const PodView two =
      pod_of(R"({"restartPolicy":"Never","containers":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(phase(two, {ended(1), running()}), Phase::kRunning);
  EXPECT_EQ(phase(two, {ended(0), ended(1)}), Phase::kFailed);
  EXPECT_EQ(phase(two, {running(), waiting()}), Phase::kPending);
}

const PodView kInit = pod_of(
    R"({"restartPolicy":"Never","initContainers":[{"name":"i"}],"containers":[{"name":"a"}]})");

TEST(PodPhase, InitContainersComeFirst) {
  EXPECT_EQ(phase(kInit, {waiting(), waiting()}, false, false), Phase::kPending);
  EXPECT_EQ(phase(kInit, {running(), waiting()}, false, false), Phase::kPending);
  EXPECT_EQ(phase(kInit, {ended(1), waiting()}, false, false), Phase::kFailed);
  EXPECT_EQ(phase(kInit, {crashed(1), waiting()}, false, false), Phase::kFailed);
  EXPECT_EQ(phase(kInit, {ended(0), running()}), Phase::kRunning);
}

TEST(PodPhase, FailedInitContainerThatIsRestartedStaysPending) {
  PodView pod = kInit;
  pod.policy = RestartPolicy::kOnFailure;
  EXPECT_EQ(phase(pod, {ended(1), waiting()}, false, false), Phase::kPending);
  EXPECT_EQ(phase(pod, {crashed(1), waiting()}, false, false), Phase::kPending);
}

const PodView kSidecar = pod_of(R"({"restartPolicy":"Never",
    "initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})");

TEST(PodPhase, SidecarAloneKeepsRunningAndItsExitCodeNeverMatters) {
  EXPECT_EQ(phase(kSidecar, {running(), ended(0)}), Phase::kRunning);
  EXPECT_EQ(phase(kSidecar, {ended(9), ended(0)}), Phase::kSucceeded);
  EXPECT_EQ(phase(kSidecar, {ended(0), ended(1)}), Phase::kFailed);
  EXPECT_EQ(phase(kSidecar, {running(false), waiting()}, false, false), Phase::kPending);
}

// Every combination for init, sidecar and two main containers, all policies.
TEST(PodPhase, HoldsItsPromisesForEveryCombination) {
  const std::vector<ContainerStatus> all = {waiting(), crashed(0), crashed(1), running(false),
                                            running(), ended(0),   ended(1)};
  PodView pod = pod_of(R"({"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],
                           "containers":[{"name":"a"},{"name":"b"}]})");
  int checked = 0;
  for (const auto policy :
       {RestartPolicy::kAlways, RestartPolicy::kOnFailure, RestartPolicy::kNever}) {
    pod.policy = policy;
    for (const ContainerStatus& i : all)
      for (const ContainerStatus& s : all)
        for (const ContainerStatus& a : all)
          for (const ContainerStatus& b : all)
            for (const int flags : {0, 1, 2, 3}) {
              const bool finished = flags & 1;
              const Phase got = phase(pod, {i, s, a, b}, finished, flags & 2);
              ++checked;
              const bool main_runs = a.running() || b.running();
              const bool sidecar_runs = s.running();
              const bool init_failed_for_good =
                  policy == RestartPolicy::kNever &&
                  (i.is_terminated() ? i.terminated.code != 0
                                     : i.waiting() && i.last && i.last->code != 0);
              ASSERT_EQ(got == Phase::kFailed && (main_runs || sidecar_runs),
                        init_failed_for_good && (main_runs || sidecar_runs))
                  << "only a failed init container ends a pod in which something runs";
              if (got == Phase::kSucceeded) {
                ASSERT_TRUE(a.is_terminated() && a.terminated.code == 0);
                ASSERT_TRUE(b.is_terminated() && b.terminated.code == 0);
                ASSERT_FALSE(i.running());
                ASSERT_FALSE(sidecar_runs);
                ASSERT_TRUE(finished || policy != RestartPolicy::kAlways);
              }
              const bool restarts = !finished && policy != RestartPolicy::kNever;
              ASSERT_TRUE(got != Phase::kRunning || main_runs || sidecar_runs || restarts);
              ASSERT_TRUE(!main_runs || !is_terminal(got) || init_failed_for_good);
              ASSERT_TRUE(!i.running() || got == Phase::kPending);
            }
  }
  EXPECT_EQ(checked, 3 * 7 * 7 * 7 * 7 * 4);
}

}  // namespace phase_test
}  // namespace muster::agent
