// Runs with real processes, in namespaces and without.
#include "runtime/process_runtime.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "runtime/gate.h"
#include "runtime/pod_of_process.h"
#include "runtime/testing.h"

namespace muster::runtime {
namespace process_runtime_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProcessRuntimeTest : public RuntimeFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    connect(GetParam());
    start_pod();
  }
};
INSTANTIATE_TEST_SUITE_P(Isolation, ProcessRuntimeTest, testing::Bool(), [](const auto& mode) {
  return mode.param ? "Namespaces" : "PlainProcesses";
});

TEST_P(ProcessRuntimeTest, ExitCodeOfTheProgramIsTold) {
  const Exit exit = run_shell("exit 3");
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.signal, 0);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0].phase, RunPhase::kRunning);
  EXPECT_EQ(told_[0].container_id.size(), 64U);
  EXPECT_EQ(told_[1].container_id, told_[0].container_id);
  EXPECT_LE(*told_[1].started, exit.finished);
}

TEST_P(ProcessRuntimeTest, SignalEndsTheProgramAsItWouldOutside) {
  const RunId run = start(shell("exec sleep 1000"));
  wait_for(run, RunPhase::kRunning);
  runtime_->signal(run, SIGTERM);
  EXPECT_EQ(exit_of(run).code, 143);
  EXPECT_EQ(exit_of(run).signal, SIGTERM);
}

TEST_P(ProcessRuntimeTest, ProgramThatEndsByItsOwnSignalIsToldApartFromTheSameCode) {
  EXPECT_EQ(run_shell("kill -SEGV $$").signal, SIGSEGV);
  const Exit same_code = exit_of(start(shell("exit 139", 1)));
  EXPECT_EQ(same_code.code, 139);
  EXPECT_EQ(same_code.signal, 0);
}

TEST_P(ProcessRuntimeTest, OnlyTheMainProcessGetsASignal) {
  const RunId run =
      start(shell("trap 'echo main; exit 5' TERM; "
                  "sh -c 'trap \"echo child\" TERM; echo up; sleep 1000' & wait"));
  wait_until([&] { return is(run, RunPhase::kRunning); });
  while (log_lines().empty()) {
  }
  runtime_->signal(run, SIGTERM);
  EXPECT_EQ(exit_of(run).code, 5);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F up", "stdout F main"));
}

TEST_P(ProcessRuntimeTest, KillTakesTheWholeTreeAlsoWhatLeftItsSession) {
  const std::string marker = unique_seconds();
  const RunId run = start(
      shell(fmt::format("sleep {0} & setsid sleep {0} & (setsid sh -c 'sleep {0} & sleep {0}' &) ; "
                        "echo ready; wait",
                        marker)));
  while (processes_with("sleep" + std::string(1, '\0') + marker).size() < 4) {
  }
  runtime_->kill(run);
  EXPECT_EQ(exit_of(run).code, 137);
  EXPECT_THAT(processes_with(marker), IsEmpty());
}

TEST_P(ProcessRuntimeTest, ProcessesAreKnownByTheirPodHoweverTheyLeftTheirParents) {
  PodSpec pod = pod_spec("of-process");
  pod.name = "team/worker-0";
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); }));
  const std::string marker = unique_seconds();
  start(shell(fmt::format("sleep {0} & (setsid sh -c 'sleep {0} & sleep {0}' &) ; wait", marker)),
        pod.uid);
  const std::string command = "sleep" + std::string(1, '\0') + marker;
  while (processes_with(command).size() < 3) {
  }
  for (const pid_t pid : processes_with(command)) {
    const auto found = pod_of_process(pid);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, "team/worker-0");
    EXPECT_EQ(found->uid, pod.uid);
  }
  EXPECT_FALSE(pod_of_process(getpid())) << "this one is of no pod";
}

TEST_P(ProcessRuntimeTest, LeftoversDieWhenTheMainProcessEnds) {
  const std::string marker = unique_seconds();
  const Exit exit = run_shell(fmt::format("setsid sleep {} & exit 0", marker));
  EXPECT_EQ(exit.code, 0);
  EXPECT_THAT(processes_with(marker), IsEmpty());
}

TEST_P(ProcessRuntimeTest, BothStreamsAreInTheLogBeforeTheExitIsTold) {
  run_shell("echo one; echo two >&2; printf three");
  EXPECT_THAT(log_lines(),
              testing::UnorderedElementsAre("stdout F one", "stderr F two", "stdout F three"));
  EXPECT_TRUE(parse_time(read_text(log_file()).substr(0, 30)));
}

TEST_P(ProcessRuntimeTest, LargeOutputOfAShortProgramIsComplete) {
  run_shell("seq 1 100000");
  const std::vector<std::string> lines = log_lines();
  ASSERT_EQ(lines.size(), 100000U);
  EXPECT_EQ(lines.back(), "stdout F 100000");
}

TEST_P(ProcessRuntimeTest, EnvironmentIsExactlyTheGivenOne) {
  RunSpec spec = shell("");
  spec.argv = {"env"};
  spec.environment = {"PATH=/usr/bin:/bin", "B=2", "A=x y=z", "EMPTY="};
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F PATH=/usr/bin:/bin", "stdout F B=2",
                                       "stdout F A=x y=z", "stdout F EMPTY="));
}

TEST_P(ProcessRuntimeTest, NothingOfTheServerReachesTheProgram) {
  const UniqueFd leaky(open("/etc/passwd", O_RDONLY));  // without close-on-exec
  run_shell(
      "ls /proc/self/fd | sort | tr '\\n' ' '; grep -E 'NoNewPrivs|SigBlk|SigIgn' "
      "/proc/self/status; umask; readlink /proc/self/fd/0");
  EXPECT_THAT(log_lines(),
              ElementsAre("stdout F 0 1 2 3 SigBlk:\t0000000000000000",  // 3 is the folder itself
                          "stdout F SigIgn:\t0000000000000000", "stdout F NoNewPrivs:\t1",
                          "stdout F 0022", HasSubstr("null")));
}

TEST_P(ProcessRuntimeTest, ProgramMayOpenAsManyFilesAsWhoStartedTheServer) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = 321;
  setrlimit(RLIMIT_NOFILE, &limit);
  clean_up();  // the next keeper starts with it
  connect(GetParam());
  setrlimit(RLIMIT_NOFILE, &before);
  start_pod();
  run_shell("ulimit -Sn; ulimit -Hn");
  EXPECT_THAT(log_lines(),
              ElementsAre("stdout F 321", before.rlim_max == RLIM_INFINITY
                                              ? std::string("stdout F unlimited")
                                              : fmt::format("stdout F {}", before.rlim_max)));
}

struct StartErrorCase {
  const char* name;
  std::vector<std::string> argv;
  const char* working_directory;
  const char* error;
};

TEST_P(ProcessRuntimeTest, ProgramThatCannotBeStartedSaysWhy) {
  const std::vector<StartErrorCase> cases = {
      {"missing",
       {"no-such-prog"},
       "/",
       "exec: \"no-such-prog\": executable file not found in $PATH"},
      {"missing path",
       {"/no/prog"},
       "/",
       "exec: \"/no/prog\": stat /no/prog: no such file or directory"},
      {"not executable", {"/etc/passwd"}, "/", "exec: \"/etc/passwd\": permission denied"},
      {"a directory", {"/etc"}, "/", "exec: \"/etc\": is a directory"},
      {"no such directory", {"true"}, "/no/dir", "chdir to \"/no/dir\": no such file or directory"},
  };
  int number = 0;
  for (const StartErrorCase& each : cases) {
    SCOPED_TRACE(each.name);
    RunSpec spec = shell("", number++);
    spec.argv = each.argv;
    spec.working_directory = each.working_directory;
    const RunId run = start(spec);
    const Exit exit = exit_of(run);
    EXPECT_EQ(exit.code, 128);
    EXPECT_EQ(exit.start_error, each.error);
    EXPECT_FALSE(states_[run].started);
  }
}

TEST_P(ProcessRuntimeTest, HeldRunIsExecutedWhenItsGateOpens) {
  const std::string gate = directory_ + "/gate";
  ASSERT_TRUE(make_gate(gate));
  RunSpec spec = shell("echo through");
  spec.gate = gate;
  const RunId run = start(spec);
  wait_for(run, RunPhase::kHeld);
  EXPECT_FALSE(states_[run].started);
  ASSERT_TRUE(open_gate(gate));
  EXPECT_EQ(exit_of(run).code, 0);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F through"));
  EXPECT_EQ(exit_of(start([&] {
              RunSpec late = shell("true", 1);
              late.gate = gate;
              return late;
            }()))
                .code,
            0);
}

TEST_P(ProcessRuntimeTest, HeldRunCanBeStopped) {
  const std::string gate = directory_ + "/gate";
  ASSERT_TRUE(make_gate(gate));
  RunSpec spec = shell("echo through");
  spec.gate = gate;
  const RunId run = start(spec);
  wait_for(run, RunPhase::kHeld);
  runtime_->signal(run, SIGTERM);
  EXPECT_EQ(exit_of(run).code, 143);
  EXPECT_FALSE(states_[run].started);
}

TEST_P(ProcessRuntimeTest, StartingTheSameRunAgainChangesNothing) {
  const RunId run = start(shell("echo once"));
  start(shell("echo twice"));
  exit_of(run);
  start(shell("echo thrice"));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F once"));
}

TEST_P(ProcessRuntimeTest, SecondRunOfAContainerWaitsForTheFirstOne) {
  const RunId first = start(shell("exec sleep 1000"));
  const Status second = finish(
      [&](Runtime::Done done) { runtime_->start("pod", shell("true", 1), std::move(done)); });
  EXPECT_FALSE(second);
  const Status removed =
      finish([&](Runtime::Done done) { runtime_->remove_pod("pod", std::move(done)); });
  EXPECT_FALSE(removed);
  runtime_->kill(first);
  exit_of(first);
  EXPECT_EQ(exit_of(start(shell("true", 1))).code, 0);
}

TEST_P(ProcessRuntimeTest, LargeEnvironmentArrivesWhole) {
  RunSpec spec = shell("echo ${#BIG} ${#ALSO}");
  spec.environment.push_back("BIG=" + std::string(100'000, 'x'));
  spec.environment.push_back("ALSO=" + std::string(120'000, 'y'));
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F 100000 120000"));
}

}  // namespace process_runtime_test
}  // namespace muster::runtime
