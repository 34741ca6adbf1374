// What a container sees: mounts, names, limits, and commands beside it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "runtime/testing.h"

namespace muster::runtime {
namespace container_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ContainerTest : public RuntimeFixture {
 protected:
  void SetUp() override {
    connect();
    // What this machine does not allow cannot be tested on it.
    if (!can("mount namespaces")) GTEST_SKIP() << why_not("mount namespaces");
    start_pod();
  }
  const Ability* ability(const std::string& name) {
    for (const Ability& each : runtime_->abilities()) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  bool can(const std::string& name) { return ability(name) != nullptr && ability(name)->available; }
  std::string why_not(const std::string& name) {
    return ability(name) == nullptr ? name + " is unknown" : name + ": " + ability(name)->detail;
  }
  std::string folder(const std::string& name) {
    std::filesystem::create_directories(directory_ + "/" + name);
    chmod((directory_ + "/" + name).c_str(), 0777);
    return directory_ + "/" + name;
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
};

TEST_F(ContainerTest, HostNameAndHostsFileAreThePodsOwn) {
  PodSpec pod = pod_spec("named");
  pod.hosts_file = file("hosts", "127.77.0.1\tworker-0.train worker-0\n");
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); }));
  const RunId run =
      start(shell("hostname; getent hosts worker-0.train; read go < /dev/stdin; cat /etc/hosts"),
            "named");
  exit_of(run);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F host-of-named", HasSubstr("127.77.0.1"),
                                       HasSubstr("worker-0.train worker-0")));
}

TEST_F(ContainerTest, MountsAreSeenInsideOnly) {
  std::ofstream(folder("volume") + "/here") << "data";
  RunSpec spec = shell("cat /mnt/here; echo more > /mnt/new; touch /opt/x 2>&1 || echo refused");
  spec.mounts = {{directory_ + "/volume", "/mnt", false}, {directory_ + "/volume", "/opt", true}};
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F datatouch: cannot touch '/opt/x': Read-only file "
                                       "system",
                                       "stdout F refused"));
  EXPECT_EQ(read_text(directory_ + "/volume/new"), "more\n");
  EXPECT_FALSE(std::filesystem::exists("/mnt/here"));
}

TEST_F(ContainerTest, PlaceThatTheMachineDoesNotHaveIsMadePrivately) {
  std::ofstream(folder("volume") + "/here") << "data\n";
  RunSpec spec = shell(
      "cat /muster-test/deep/here /etc/muster-test/here /muster-test/one; head -1 /etc/passwd; "
      "ls -d /usr/bin /proc/self /dev/null; touch /etc/hosts.new 2>/dev/null || echo sealed; "
      "echo fine > /tmp/muster-test-file && rm /tmp/muster-test-file && echo shared");
  spec.mounts = {{directory_ + "/volume", "/muster-test/deep", false},
                 {directory_ + "/volume", "/etc/muster-test", false},
                 {file("one", "single\n"), "/muster-test/one", false}};
  EXPECT_EQ(exit_of(start(spec)).code, 0) << exit_of(RunId{"pod", "main", 0}).start_error;
  EXPECT_THAT(log_lines(),
              ElementsAre("stdout F data", "stdout F data", "stdout F single",
                          StartsWith("stdout F root:"), "stdout F /dev/null", "stdout F /proc/self",
                          "stdout F /usr/bin", "stdout F sealed", "stdout F shared"));
  EXPECT_FALSE(std::filesystem::exists("/muster-test"));
  EXPECT_FALSE(std::filesystem::exists("/etc/muster-test"));
}

TEST_F(ContainerTest, LinksOfTheMachineLeadToAPlace) {
  std::ofstream(folder("volume") + "/here") << "data\n";
  RunSpec spec = shell("cat /var/run/muster-test/here /run/muster-test/here /muster-test/here");
  spec.mounts = {{directory_ + "/volume", "/muster-test", false},  // makes the root private first
                 {directory_ + "/volume", "/var/run/muster-test", false}};
  EXPECT_EQ(exit_of(start(spec)).code, 0) << exit_of(RunId{"pod", "main", 0}).start_error;
  EXPECT_THAT(log_lines(), ElementsAre("stdout F data", "stdout F data", "stdout F data"));
}

TEST_F(ContainerTest, MountInsideAVolumeIsMadeInIt) {
  folder("work");
  std::ofstream(folder("config") + "/c") << "configured\n";
  RunSpec spec = shell("cat /mnt/config/c; echo result > /mnt/out");
  spec.mounts = {{directory_ + "/config", "/mnt/config", true},
                 {directory_ + "/work", "/mnt", false}};
  EXPECT_EQ(exit_of(start(spec)).code, 0) << exit_of(RunId{"pod", "main", 0}).start_error;
  EXPECT_THAT(log_lines(), ElementsAre("stdout F configured"));
  EXPECT_EQ(read_text(directory_ + "/work/out"), "result\n");
}

TEST_F(ContainerTest, LinksDoNotLeadMountsAstray) {
  folder("work");
  std::filesystem::create_directory_symlink("/etc", directory_ + "/work/link");
  RunSpec through_source = shell("true", 0);
  through_source.mounts = {{directory_ + "/work/link", "/mnt", false}};
  EXPECT_THAT(exit_of(start(through_source)).start_error, HasSubstr("symbolic links"));
  RunSpec through_volume = shell("true", 1);
  through_volume.mounts = {{directory_ + "/work", "/mnt", false},
                           {directory_ + "/work", "/mnt/link/there", false}};
  EXPECT_THAT(exit_of(start(through_volume)).start_error, HasSubstr("cannot make /mnt/link/there"));
  RunSpec upwards = shell("true", 2);
  upwards.mounts = {{directory_ + "/work", "/mnt/../etc", false}};
  EXPECT_THAT(exit_of(start(upwards)).start_error, HasSubstr("no place for a mount"));
}

TEST_F(ContainerTest, TerminationLogIsFreshForEachRun) {
  for (int number = 0; number < 2; ++number) {
    RunSpec spec =
        shell("cat /dev/termination-log; echo last words > /dev/termination-log", number);
    spec.termination_log = directory_ + "/termination";
    spec.termination_log_path = "/dev/termination-log";
    EXPECT_EQ(exit_of(start(spec)).code, 0);
    EXPECT_EQ(read_text(directory_ + "/termination"), "last words\n");
    EXPECT_EQ(log_lines(number).size(), 0U);
  }
}

TEST_F(ContainerTest, ReadOnlyRootLeavesTheVolumesWritable) {
  folder("volume");
  RunSpec spec = shell("touch /tmp/x 2>/dev/null || echo no; echo y > /mnt/y; echo z > /dev/null");
  spec.read_only_root = true;
  spec.mounts = {{directory_ + "/volume", "/mnt", false}};
  EXPECT_EQ(exit_of(start(spec)).code, 0);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F no"));
  EXPECT_EQ(read_text(directory_ + "/volume/y"), "y\n");
}

TEST_F(ContainerTest, ProgramSeesOnlyItsOwnProcesses) {
  run_shell("echo $$; ls /proc | grep -c '^[0-9]'; cat /proc/1/comm");
  const auto lines = log_lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "stdout F 2");
  EXPECT_EQ(lines[2], "stdout F muster-init");
}

TEST_F(ContainerTest, ProgramRunsAsTheUserItIsGiven) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  RunSpec spec = shell("id -u; id -g; id -G; cat /proc/1/environ 2>/dev/null || echo hidden");
  spec.user = User{.uid = 12345, .gid = 23456, .groups = {34567}};
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F 12345", "stdout F 23456", "stdout F 23456 34567",
                                       "stdout F hidden"));
}

// A number of this test alone: what others have counts, too.
TEST_F(ContainerTest, ProcessesOfAUserAreBoundedOverAllOfHisRuns) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const std::string made = folder("shared") + "/made";
  chmod((directory_ + "/shared").c_str(), 0777);
  const auto run_bounded = [&](const std::string& script, int number) {
    RunSpec spec = shell(script, number);
    spec.container = fmt::format("container-{}", number);
    spec.user = User{.uid = 54777, .gid = 54777, .groups = {}};
    spec.user_processes = 4;
    return start(spec);
  };
  const std::string forks = "sleep 1000 & sleep 1000 & ";
  const std::string wait = "while [ ! -e " + made + " ]; do :; done; ";  // in the shell itself
  const RunId first = run_bounded(forks + ": > " + made + "; wait", 0);
  EXPECT_EQ(exit_of(run_bounded(wait + forks + "true", 1)).code, 2) << "the shell is the fourth";
  EXPECT_THAT(log_lines(1), ElementsAre(HasSubstr("fork")));
  runtime_->kill(first);
  wait_for(first, RunPhase::kExited);
  EXPECT_EQ(exit_of(run_bounded(forks + "true", 2)).code, 0) << "there is room again";
}

TEST_F(ContainerTest, MemoryLimitEndsTheProgram) {
  if (!can("memory limits")) GTEST_SKIP() << why_not("memory limits");
  RunSpec spec = shell("x=a; while :; do x=$x$x; done");
  spec.limits.memory_bytes = 32 << 20;
  const Exit exit = exit_of(start(spec));
  EXPECT_TRUE(exit.out_of_memory);
  EXPECT_EQ(exit.code, 137);
  EXPECT_FALSE(exit_of(start(shell("exit 137", 1))).out_of_memory);
}

TEST_F(ContainerTest, DevicesThatAreDeniedToThePodCannotBeOpened) {
  if (!can("device rules")) GTEST_SKIP() << why_not("device rules");
  constexpr int kTerminals = 5;  // /dev/tty, /dev/ptmx
  PodSpec pod = pod_spec("denied");
  pod.denied_devices = {kTerminals};
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); }));
  const std::string script = "(: < /dev/ptmx) 2>&1 && echo open; : < /dev/zero && echo zero";
  exit_of(start(shell(script), "denied"));
  EXPECT_THAT(log_lines(), ElementsAre(HasSubstr("Operation not permitted"), "stdout F zero"));
  exit_of(start(shell(script, 1)));
  EXPECT_THAT(log_lines(1), ElementsAre("stdout F open", "stdout F zero"));
}

TEST_F(ContainerTest, CpuLimitIsSet) {
  if (!can("cpu limits")) GTEST_SKIP() << why_not("cpu limits");
  RunSpec spec = shell("grep -E '^[0-9]+:([a-z,]*,)?cpu[,:]|^0::' /proc/self/cgroup");
  spec.limits.cpu_millis = 500;
  exit_of(start(spec));
  const std::string where = ability("cpu limits")->detail;  // cgroup v1 at /…
  for (const auto& entry : std::filesystem::directory_iterator(where.substr(where.find('/')))) {
    EXPECT_FALSE(
        std::filesystem::is_directory(entry.path() / states_.begin()->second.container_id));
  }
  EXPECT_THAT(log_lines(), Contains(HasSubstr("/muster-")));
}

TEST_F(ContainerTest, MountOfTheUsersOwnIsNoWayPastAClosedFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs programs as others";
  std::ofstream(folder("closed/inner") + "/text") << "told";
  chmod((directory_ + "/closed").c_str(), 0700);
  RunSpec spec = shell("cat /mnt/text");
  spec.user = User{.uid = 4242, .gid = 4242, .groups = {}};
  spec.mounts = {{.source = directory_ + "/closed/inner", .target = "/mnt"}};
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F told"));  // one that the agent vouches for

  spec.number = 1;
  spec.log_file = log_file(1);
  spec.mounts[0].as_user = true;
  EXPECT_EQ(exit_of(start(spec)).start_error,
            "cannot mount " + directory_ + "/closed/inner: Permission denied");

  spec.number = 2;
  spec.log_file = log_file(2);
  chmod((directory_ + "/closed").c_str(), 0711);
  EXPECT_EQ(exit_of(start(spec)).code, 0);
  EXPECT_THAT(log_lines(2), ElementsAre("stdout F told"));
}

TEST_F(ContainerTest, FoldersOnTheWayToAMountAreForEverybody) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs programs as others";
  std::ofstream(folder("volume") + "/here") << "data";
  RunSpec spec = shell("cat /muster-test/deep/er/here");
  spec.user = User{.uid = 4242, .gid = 4242, .groups = {}};
  spec.mounts = {{.source = directory_ + "/volume", .target = "/muster-test/deep/er"}};
  exit_of(start(spec));
  EXPECT_THAT(log_lines(), ElementsAre("stdout F data"));
}

TEST_F(ContainerTest, WithoutAFolderOfItsOwnAProgramBeginsWhereItsUserMay) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs programs as others";
  const std::string before = std::filesystem::current_path();
  const std::string closed = folder("closed"), home = folder("home");
  std::filesystem::current_path(closed);  // the server's, when it is made
  runtime_.reset();
  connect();
  adopt();
  std::filesystem::current_path(before);
  RunSpec spec = shell("pwd");
  spec.working_directory.clear();
  spec.environment.push_back("HOME=" + home);
  spec.user = User{.uid = 4242, .gid = 4242, .groups = {}};
  exit_of(start(spec));
  EXPECT_THAT(log_lines(0), ElementsAre("stdout F " + closed));
  chmod(closed.c_str(), 0700);
  spec.number = 1;
  spec.log_file = log_file(1);
  exit_of(start(spec));
  EXPECT_THAT(log_lines(1), ElementsAre("stdout F " + home));
  spec.number = 2;
  spec.log_file = log_file(2);
  spec.environment.back() = "HOME=/nonexistent";
  exit_of(start(spec));
  EXPECT_THAT(log_lines(2), ElementsAre("stdout F /"));
}

TEST_F(ContainerTest, PodHasSoManyProcessesAndNoMore) {
  if (!can("process limits")) GTEST_SKIP() << why_not("process limits");
  PodSpec pod = pod_spec("few");
  pod.processes = 10;
  ASSERT_TRUE(finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); }));
  // The shell gives up at the first fork that fails.
  const RunId run =
      start(shell("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1000 & echo $i; done"), "few");
  EXPECT_NE(exit_of(run).code, 0);
  const std::string text = read_text(log_file());
  EXPECT_THAT(text, HasSubstr("ork"));  // Cannot fork
  EXPECT_THAT(text, testing::Not(HasSubstr("stdout F 9\n")));
  EXPECT_EQ(exit_of(start(shell("true", 1), "few")).code, 0) << "there is room again";
}

}  // namespace container_test
}  // namespace muster::runtime
