// Containers with a root file system of their own, through each OCI runtime that we know. The
// machine's /usr stands for an image: it has programs, a /bin and a /lib, and belongs to root.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "runtime/gate.h"
#include "runtime/oci_container.h"
#include "runtime/testing.h"

namespace muster::runtime {
namespace oci_container_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OciContainerTest : public RuntimeFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const auto program = find_oci_program(GetParam());
    ASSERT_TRUE(program) << program.error().message << " (scripts/setup.sh test does it)";
    program_ = *program;
    connect();
    start_pod();
  }
  RunSpec in_container(const std::string& script, int number = 0) {
    RunSpec spec = shell(script, number);
    spec.rootfs = "/usr";
    spec.oci_program = program_;
    return spec;
  }
  Exit run_in_container(const std::string& script) { return exit_of(start(in_container(script))); }
  std::string folder(const std::string& name) {
    std::filesystem::create_directories(directory_ + "/" + name);
    chmod((directory_ + "/" + name).c_str(), 0777);
    return directory_ + "/" + name;
  }
  void wait_for_output(const RunId& run) {
    wait_for(run, RunPhase::kRunning);
    while (log_lines().empty()) {
    }
  }
  Result<int> exec(const RunId& run, const std::string& script) {
    output_.clear();
    std::optional<Result<int>> end;
    const auto command = runtime_->exec({run, {"sh", "-c", script}},
                                        {.output = [&](bool, std::string_view b) { output_ += b; },
                                         .input_taken = {},
                                         .end =
                                             [&](Result<int> code) {
                                               end = std::move(code);
                                               look();
                                             }});
    wait_until([&] { return end.has_value(); });
    return end.value_or(-1);
  }
  std::string program_;
  std::string output_;
};

TEST_P(OciContainerTest, OutputAndExitCodeAreThoseOfTheProgram) {
  const Exit exit = run_in_container("echo $COLOUR; echo oops >&2; exit 7");
  EXPECT_EQ(exit.code, 7) << exit.start_error;
  EXPECT_THAT(log_lines(), testing::UnorderedElementsAre("stdout F ", "stderr F oops"));
}

TEST_P(OciContainerTest, ProgramMayOpenAsManyFilesAsWhoStartedTheServer) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = 321;
  setrlimit(RLIMIT_NOFILE, &limit);
  clean_up();  // the next keeper starts with it
  connect();
  setrlimit(RLIMIT_NOFILE, &before);
  start_pod();
  run_in_container("ulimit -Sn");
  EXPECT_THAT(log_lines(), ElementsAre("stdout F 321"));
}

TEST_P(OciContainerTest, SignalThatEndsItIsKnown) {
  const Exit exit = run_in_container("kill -USR1 $$");
  EXPECT_EQ(exit.signal, SIGUSR1) << exit.start_error;
  EXPECT_EQ(exit.code, 128 + SIGUSR1);
}

TEST_P(OciContainerTest, WhatItWritesIsNotSeenOutside) {
  const std::string name = "/muster-oci-" + unique_seconds();
  const Exit exit = run_in_container("echo inside > " + name + " && cat " + name);
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(log_lines(), Contains("stdout F inside"));
  EXPECT_FALSE(std::filesystem::exists("/usr" + name));
  EXPECT_FALSE(std::filesystem::exists(name));
}

TEST_P(OciContainerTest, HostNameHostsAndVolumesAreThePods) {
  PodSpec pod = pod_spec("named");
  pod.hosts_file = directory_ + "/hosts";
  std::ofstream(pod.hosts_file) << "127.77.0.1\tworker-0.train worker-0\n";
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); }));
  std::ofstream(folder("volume") + "/here") << "data\n";
  RunSpec spec = in_container(
      "hostname; cat /etc/hosts /muster/deep/here; echo more > /muster/deep/new; "
      "touch /muster/fixed/x 2>/dev/null || echo read-only; printf done > /dev/termination-log");
  spec.mounts = {{directory_ + "/volume", "/muster/deep", false},
                 {directory_ + "/volume", "/muster/fixed", true}};
  spec.termination_log = directory_ + "/message";
  spec.termination_log_path = "/dev/termination-log";
  const Exit exit = exit_of(start(spec, "named"));
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(log_lines(), ElementsAre("stdout F host-of-named", HasSubstr("worker-0.train"),
                                       "stdout F data", "stdout F read-only"));
  EXPECT_EQ(read_text(directory_ + "/volume/new"), "more\n");
  EXPECT_EQ(read_text(directory_ + "/message"), "done");
  EXPECT_FALSE(std::filesystem::exists("/usr/muster"));
}

TEST_P(OciContainerTest, LinkInTheSourceOfAMountIsRefused) {
  std::filesystem::create_symlink("/etc", directory_ + "/link");
  RunSpec spec = in_container("true");
  spec.mounts = {{directory_ + "/link", "/mnt", false}};
  EXPECT_THAT(exit_of(start(spec)).start_error, HasSubstr("cannot mount"));
}

TEST_P(OciContainerTest, MountInsideAVolumeIsMadeInIt) {
  std::ofstream(folder("config") + "/c") << "configured\n";
  RunSpec spec = in_container("cat /mnt/config/c; echo result > /mnt/out; echo deep > /mnt/a/b/c");
  spec.mounts = {{directory_ + "/config", "/mnt/config", true},
                 {folder("deep"), "/mnt/a/b", false},
                 {folder("work"), "/mnt", false}};
  const Exit exit = exit_of(start(spec));
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(log_lines(), ElementsAre("stdout F configured"));
  EXPECT_EQ(read_text(directory_ + "/work/out"), "result\n");
  EXPECT_EQ(read_text(directory_ + "/deep/c"), "deep\n");
}

TEST_P(OciContainerTest, InAVolumeThatIsTheMachinesOnlyWhatTheUserMayMakeIsMade) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has pods of other users";
  const std::string root = folder("image");
  for (const char* part : {"usr", "run", "var"}) folder(std::string("image/") + part);
  for (const char* part : {"bin", "lib", "lib64"}) {
    std::filesystem::create_symlink(std::string("usr/") + part, root + "/" + part);
  }
  std::filesystem::create_symlink("../run", root + "/var/run");
  std::filesystem::create_symlink("/run/h/lock", root + "/var/lock");  // leads nowhere yet
  const std::string theirs = folder("theirs");
  chmod(theirs.c_str(), 0755);
  const std::vector<std::pair<std::string, std::string>> places = {
      {"/run/h/new", "/run/h/new"},
      {"/var/run/h/new", "/run/h/new"},
      {"/var/lock/new", "/run/h/lock/new"},
      {"/var/lock", "/run/h/lock"}};
  int number = 0;
  for (const auto& [place, real] : places) {
    RunSpec spec = in_container("true", number++);
    spec.rootfs = root;
    spec.user = User{.uid = 54321, .gid = 54321, .groups = {}};
    spec.mounts = {
        {"/usr", "/usr", true}, {theirs, "/run/h", false, true}, {folder("volume"), place, false}};
    EXPECT_EQ(exit_of(start(spec)).start_error, "cannot make " + real + ": Permission denied");
  }
  EXPECT_TRUE(std::filesystem::is_empty(theirs));
}

TEST_P(OciContainerTest, ReadOnlyRootIsOne) {
  RunSpec spec = in_container("touch /x 2>/dev/null || echo refused");
  spec.read_only_root = true;
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F refused"));
}

TEST_P(OciContainerTest, ProgramThatIsMissingIsAStartError) {
  RunSpec spec = in_container("");
  spec.argv = {"no-such-program"};
  const Exit exit = exit_of(start(spec));
  EXPECT_EQ(exit.code, 128);
  EXPECT_THAT(exit.start_error, HasSubstr("no-such-program"));
  EXPECT_THAT(exit.start_error, HasSubstr("not found"));
}

TEST_P(OciContainerTest, RootThatIsMissingIsAStartError) {
  RunSpec spec = in_container("true");
  spec.rootfs = directory_ + "/nothing";
  EXPECT_THAT(exit_of(start(spec)).start_error, HasSubstr("/nothing: No such file or directory"));
}

TEST_P(OciContainerTest, TerminationIsHeardByTheProgram) {
  const RunId run =
      start(in_container("trap 'echo bye; exit 3' TERM; echo ready; sleep 1000 & wait"));
  wait_for_output(run);
  runtime_->signal(run, SIGTERM);
  EXPECT_EQ(exit_of(run).code, 3);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F ready", "stdout F bye"));
}

TEST_P(OciContainerTest, KillTakesTheWholeTree) {
  const std::string marker = unique_seconds();
  const RunId run = start(
      in_container(fmt::format("setsid sleep {0} & sleep {0} & echo ready; sleep {0}", marker)));
  wait_for_output(run);
  runtime_->kill(run);
  EXPECT_EQ(exit_of(run).code, 137);
  EXPECT_THAT(processes_with("sleep" + std::string(1, '\0') + marker), IsEmpty());
}

TEST_P(OciContainerTest, AllButTheExecIsDoneAtTheGate) {
  const std::string gate = directory_ + "/gate";
  ASSERT_TRUE(make_gate(gate));
  RunSpec spec = in_container("echo through");
  spec.gate = gate;
  const RunId run = start(spec);
  wait_until([&] { return !told_.empty() && told_.back().phase == RunPhase::kHeld; });
  EXPECT_THAT(log_lines(), IsEmpty());
  ASSERT_TRUE(open_gate(gate));
  EXPECT_EQ(exit_of(run).code, 0) << states_[run].exit->start_error;
  EXPECT_TRUE(states_[run].started);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F through"));
}

TEST_P(OciContainerTest, HeldContainerDiesOfATermination) {
  const std::string gate = directory_ + "/gate";
  ASSERT_TRUE(make_gate(gate));
  RunSpec spec = in_container("echo through");
  spec.gate = gate;
  const RunId run = start(spec);
  wait_until([&] { return !told_.empty() && told_.back().phase == RunPhase::kHeld; });
  runtime_->signal(run, SIGTERM);
  const Exit exit = exit_of(run);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_THAT(log_lines(), IsEmpty());
}

TEST_P(OciContainerTest, CommandBesideItSeesTheContainer) {
  RunSpec spec = in_container("echo mine > /muster-here; echo ready; exec sleep 1000");
  spec.environment.emplace_back("COLOUR=green");
  spec.working_directory = "/bin";
  const RunId run = start(spec);
  wait_for_output(run);
  EXPECT_EQ(exec(run, "cat /muster-here; echo $COLOUR; pwd; exit 4").value_or(-1), 4);
  EXPECT_EQ(output_, "mine\ngreen\n/bin\n");
  // No more rights than the container's own processes have.
  ASSERT_EQ(exec(run, "grep CapBnd /proc/self/status").value_or(-1), 0);
  EXPECT_THAT(output_, HasSubstr("00000000800405fb"));
  EXPECT_EQ(exec(run, "kill -9 $$").value_or(-1), 137);
}

// What it writes outside of its volumes is memory, and counts as its own.
TEST_P(OciContainerTest, MemoryLimitEndsTheProgram) {
  const bool limited = std::ranges::any_of(runtime_->abilities(), [](const Ability& each) {
    return each.name == "memory limits" && each.available;
  });
  if (!limited) GTEST_SKIP() << "only with memory limits";
  for (const std::string script :
       {"x=a; while :; do x=$x$x; done", "exec head -c 200000000 /dev/zero > /big"}) {
    RunSpec spec = in_container(script, script.starts_with("x") ? 0 : 1);
    spec.limits.memory_bytes = 64 << 20;
    const Exit exit = exit_of(start(spec));
    EXPECT_TRUE(exit.out_of_memory) << script << exit.start_error;
    EXPECT_EQ(exit.code, 137) << script;
  }
}

TEST_P(OciContainerTest, ContainersOutliveTheAgentAndAreFoundAgain) {
  const RunId run = start(in_container("echo ready; sleep 0.2; exit 5"));
  wait_for_output(run);
  runtime_.reset();
  connect();
  ASSERT_EQ(adopt().size(), 1u);
  EXPECT_EQ(exit_of(run).code, 5);
}

INSTANTIATE_TEST_SUITE_P(Programs, OciContainerTest, testing::Values("crun", "runc"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace oci_container_test
}  // namespace muster::runtime
