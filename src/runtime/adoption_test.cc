// What survives the death of an agent, a keeper or a shim, and what is known afterwards.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <thread>

#include "runtime/channel.h"
#include "runtime/gate.h"
#include "runtime/journal.h"
#include "runtime/shim.h"
#include "runtime/testing.h"

namespace muster::runtime {
namespace adoption_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class AdoptionTest : public RuntimeFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    connect(GetParam());
    start_pod();
  }
  void restart_agent() {
    runtime_.reset();
    told_.clear();
    states_.clear();
    connect(GetParam());
  }
  // The keeper, its shims and the inits have the same command line; only the keeper holds the lock.
  pid_t keeper_pid() const {
    std::vector<pid_t> candidates = processes_with(directory_ + "/runtime");
    for (const pid_t pid : candidates) {
      if (read_text(fmt::format("/proc/{}/comm", pid)) == "muster-keeper\n") return pid;
    }
    return 0;
  }
  // Of a process that is there: 0 would be all of this test's own.
  static void send(pid_t pid, int signal) {
    ASSERT_GT(pid, 0);
    ASSERT_EQ(::kill(pid, signal), 0);
  }
  PodRecord record() const { return read_journal(directory_ + "/runtime/pods", "pod"); }
  pid_t shim_pid() const { return record().shim.pid; }
};
INSTANTIATE_TEST_SUITE_P(Isolation, AdoptionTest, testing::Bool(), [](const auto& mode) {
  return mode.param ? "Namespaces" : "PlainProcesses";
});

TEST_P(AdoptionTest, NextAgentFindsARunThatGoesOn) {
  const std::string gate = directory_ + "/gate";
  ASSERT_TRUE(make_gate(gate));
  RunSpec spec = shell("echo begun; exec sleep 1000");
  const RunId run = start(spec);
  wait_for(run, RunPhase::kRunning);
  const RunState before = states_[run];

  restart_agent();
  const auto adopted = adopt();
  ASSERT_THAT(adopted, SizeIs(1));
  EXPECT_EQ(adopted[0].pod.uid, "pod");
  EXPECT_EQ(adopted[0].pod.hostname, "host-of-pod");
  ASSERT_THAT(adopted[0].runs, SizeIs(1));
  EXPECT_EQ(adopted[0].runs[0].container_id, before.container_id);
  EXPECT_EQ(adopted[0].runs[0].started, before.started);
  EXPECT_EQ(adopted[0].runs[0].phase, RunPhase::kRunning);
  EXPECT_THAT(told_, IsEmpty());

  start(spec);  // known: nothing happens
  runtime_->signal(run, SIGTERM);
  EXPECT_EQ(exit_of(run).code, 143);
  EXPECT_EQ(states_[run].container_id, before.container_id);
}

TEST_P(AdoptionTest, ExitThatHappenedInBetweenIsKnown) {
  const std::string gate = directory_ + "/gate";
  ASSERT_TRUE(make_gate(gate));
  RunSpec spec = shell("echo alone; exit 7");
  spec.gate = gate;
  const RunId run = start(spec);
  wait_for(run, RunPhase::kHeld);
  EXPECT_TRUE(std::filesystem::exists(log_file())) << "not to be made when the gate opens";
  runtime_.reset();
  ASSERT_TRUE(open_gate(gate));
  while (record().runs.at(run).state.phase != RunPhase::kExited) {
  }
  restart_agent();
  const auto adopted = adopt();
  ASSERT_THAT(adopted, SizeIs(1));
  ASSERT_THAT(adopted[0].runs, SizeIs(1));
  EXPECT_EQ(adopted[0].runs[0].exit->code, 7);
  EXPECT_TRUE(adopted[0].runs[0].started);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F alone"));
}

TEST_P(AdoptionTest, RunsOfAKilledShimAreGoneAndToldAsLost) {
  const std::string marker = unique_seconds();
  const RunId run = start(shell(fmt::format("setsid sleep {0} & sleep {0}", marker)));
  while (processes_with("sleep" + std::string(1, '\0') + marker).size() < 2) {
  }
  wait_for(run, RunPhase::kRunning);
  send(shim_pid(), SIGKILL);
  const Exit exit = exit_of(run);
  EXPECT_TRUE(exit.lost);
  EXPECT_EQ(exit.code, 137);
  EXPECT_THAT(processes_with(marker), IsEmpty());

  // The pod goes on with a new shim, which knows what was.
  EXPECT_EQ(exit_of(start(shell("exit 4", 1))).code, 4);
  EXPECT_THAT(adopt()[0].runs, SizeIs(2));
}

// Its pods are known all the same, and what it is told meanwhile reaches it later.
TEST_P(AdoptionTest, AShimThatDoesNotAnswerStopsNobody) {
  const RunId run = start(shell("exec sleep 1000"));
  wait_for(run, RunPhase::kRunning);
  const pid_t shim = shim_pid();
  runtime_.reset();
  send(shim, SIGSTOP);
  adopt_patience_ = 50ms;
  restart_agent();
  const auto adopted = adopt();
  ASSERT_THAT(adopted, SizeIs(1));
  ASSERT_THAT(adopted[0].runs, SizeIs(1));
  EXPECT_EQ(adopted[0].runs[0].phase, RunPhase::kRunning);
  runtime_->kill(run);
  send(shim, SIGCONT);
  wait_for(run, RunPhase::kExited);
  EXPECT_EQ(states_[run].exit->code, 137);
}

TEST_P(AdoptionTest, SocketsWithoutRecordsAreSwept) {
  wait_for(start(shell("exec sleep 1000")), RunPhase::kRunning);  // the keeper stays for it
  runtime_.reset();
  const std::string stray = directory_ + "/runtime/pods/stray.sock";
  ASSERT_TRUE(listen_at(directory_ + "/runtime/pods", "stray.sock"));
  send(keeper_pid(), SIGKILL);
  while (keeper_pid() != 0) std::this_thread::sleep_for(1ms);
  connect(GetParam());
  adopt();
  EXPECT_FALSE(std::filesystem::exists(stray));
}

TEST_P(AdoptionTest, PodsGoOnWithoutTheirKeeper) {
  const RunId run = start(shell("exec sleep 1000"));
  wait_for(run, RunPhase::kRunning);
  send(keeper_pid(), SIGKILL);
  runtime_->signal(run, SIGTERM);  // goes to the shim
  EXPECT_EQ(exit_of(run).code, 143);
  start_pod("other");  // through a new keeper
  EXPECT_EQ(exit_of(start(shell("exit 2", 1), "other")).code, 2);
  EXPECT_THAT(adopt(), SizeIs(2));
}

TEST_P(AdoptionTest, AllKilledAtOnceIsFoundOutByTheNextAgent) {
  const RunId lost = start(shell("exec sleep 1000"));
  wait_for(lost, RunPhase::kRunning);
  const ProcessIdentity init = record().runs.at(lost).process;
  runtime_.reset();
  const pid_t keeper = keeper_pid();
  send(keeper, SIGKILL);
  send(shim_pid(), SIGKILL);
  restart_agent();
  const auto adopted = adopt();
  ASSERT_THAT(adopted, SizeIs(1));
  ASSERT_THAT(adopted[0].runs, SizeIs(1));
  ASSERT_TRUE(adopted[0].runs[0].exit);
  EXPECT_TRUE(adopted[0].runs[0].exit->lost);
  EXPECT_FALSE(open_process(init).valid());
}

TEST_P(AdoptionTest, RemovedPodIsForgotten) {
  EXPECT_EQ(run_shell("true").code, 0);
  const pid_t shim = shim_pid();
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->remove_pod("pod", std::move(done)); }));
  EXPECT_NE(kill(shim, 0), 0);
  EXPECT_THAT(journals_in(directory_ + "/runtime/pods"), IsEmpty());
  EXPECT_THAT(adopt(), IsEmpty());
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->remove_pod("pod", std::move(done)); }));
}

enum class Moment { kPodAsked, kPodStarted, kRunAsked, kRunStarted, kExecuted };

// For a child of the test: an agent that starts a pod and a run, and dies at the given moment.
[[noreturn]] void die_as_agent(const RuntimeOptions& options, const PodSpec& pod,
                               const RunSpec& run, Moment moment) {
  const auto here = [moment](Moment now) {
    if (now == moment) raise(SIGKILL);
  };
  const auto loop = make_real_loop();
  auto runtime = make_process_runtime(*loop, options);
  if (!runtime) _exit(1);
  (*runtime)->on_change([&](const RunState& state) {
    if (state.phase == RunPhase::kRunning) here(Moment::kExecuted);
  });
  (*runtime)->start_pod(pod, [&](const Status&) {
    here(Moment::kPodStarted);
    (*runtime)->start(pod.uid, run, [&](const Status&) { here(Moment::kRunStarted); });
    here(Moment::kRunAsked);
  });
  here(Moment::kPodAsked);
  loop->run();
  _exit(1);
}

TEST_P(AdoptionTest, ProgramRunsOnceWhereverItsAgentDied) {
  const std::string trace = directory_ + "/trace";
  int number = 0;
  for (const Moment moment : {Moment::kPodAsked, Moment::kPodStarted, Moment::kRunAsked,
                              Moment::kRunStarted, Moment::kExecuted}) {
    SCOPED_TRACE(number);
    const PodSpec pod = pod_spec(fmt::format("crash-{}", number));
    RunSpec run = shell(fmt::format("echo {} >> {}; exit 6", number, trace), number);
    runtime_.reset();
    const pid_t agent = fork();
    if (agent == 0) {
      die_as_agent({.directory = directory_ + "/runtime", .namespaces = GetParam()}, pod, run,
                   moment);
    }
    int status = 0;
    ASSERT_EQ(waitpid(agent, &status, 0), agent);
    ASSERT_TRUE(WIFSIGNALED(status));
    restart_agent();
    adopt();
    ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); }));
    EXPECT_EQ(exit_of(start(run, pod.uid)).code, 6);
    ++number;
  }
  EXPECT_EQ(read_text(trace), "0\n1\n2\n3\n4\n");
}

TEST_P(AdoptionTest, PodsWhoseRecordsAreDeletedAreEnded) {
  const std::string marker = unique_seconds();
  wait_for(start(shell("exec sleep " + marker)), RunPhase::kRunning);
  runtime_.reset();
  // The shim opens it when its agent goes; a file made under its hands would make the deletion
  // fail.
  const std::string socket = directory_ + "/runtime/pods/" + shim_socket_name("pod");
  while (!std::filesystem::exists(socket)) std::this_thread::sleep_for(1ms);
  const UniqueFd lock(open((directory_ + "/runtime/keeper.lock").c_str(), O_RDWR | O_CLOEXEC));
  std::filesystem::remove_all(directory_ + "/runtime");
  EXPECT_EQ(flock(lock.get(), LOCK_EX), 0);  // the keeper has ended
  EXPECT_THAT(processes_with(marker), IsEmpty());
}

TEST_P(AdoptionTest, KeeperThatIsAskedToEndWaitsForItsPods) {
  const RunId run = start(shell("exec sleep 1000"));
  wait_for(run, RunPhase::kRunning);
  runtime_.reset();
  const ProcessIdentity shim = record().shim;
  send(keeper_pid(), SIGTERM);
  send(shim.pid, SIGTERM);
  EXPECT_TRUE(open_process(record().runs.at(run).process).valid());
  const UniqueFd lock(open((directory_ + "/runtime/keeper.lock").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_NE(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  send(record().runs.at(run).process.pid, SIGTERM);  // as everybody in a service that is stopped
  EXPECT_EQ(flock(lock.get(), LOCK_EX), 0);
  EXPECT_FALSE(open_process(shim).valid());
  EXPECT_EQ(record().runs.at(run).state.exit->code, 143);
}

TEST_P(AdoptionTest, PodsThatEndWithTheirAgentLeaveNothing) {
  const std::string marker = unique_seconds();
  runtime_.reset();
  auto made = make_process_runtime(
      *loop_,
      {.directory = directory_ + "/private", .namespaces = GetParam(), .end_with_agent = true});
  ASSERT_TRUE(made) << made.error().message;
  (*made)->on_change([&](const RunState&) { loop_->stop(); });
  (*made)->start_pod(pod_spec("short"), [](Status status) { EXPECT_TRUE(status); });
  (*made)->start("short", shell(fmt::format("setsid sleep {0} & sleep {0}", marker)),
                 [](Status status) { EXPECT_TRUE(status); });
  loop_->run();
  made->reset();
  const UniqueFd lock(open((directory_ + "/private/keeper.lock").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(flock(lock.get(), LOCK_EX), 0);  // the keeper has ended
  EXPECT_THAT(processes_with(marker), IsEmpty());
  EXPECT_THAT(journals_in(directory_ + "/private/pods"), IsEmpty());
}

}  // namespace adoption_test
}  // namespace muster::runtime
