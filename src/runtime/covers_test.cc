// Folders that a pod finds empty, by whatever way it comes to them.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "runtime/covers.h"
#include "runtime/gate.h"
#include "runtime/testing.h"

namespace muster::runtime {
namespace covers_test {

using testing::ElementsAre;
using testing::IsEmpty;

class CoversTest : public RuntimeFixture {
 protected:
  void SetUp() override {
    connect();
    for (const Ability& each : runtime_->abilities()) {
      if (each.name == kMountNamespaces && !each.available) GTEST_SKIP() << each.detail;
    }
    std::filesystem::create_directories(data_ + "/inner");
    chmod(data_.c_str(), 0700);
    std::ofstream(data_ + "/key") << "secret\n";
    PodSpec pod = pod_spec("pod");
    pod.hidden = {data_, directory_ + "/not-there"};
    const Status started =
        finish([&](Runtime::Done done) { runtime_->start_pod(pod, std::move(done)); });
    ASSERT_TRUE(started) << started.error().message;
  }
  std::vector<std::string> output_of(RunSpec spec) {
    const Exit exit = exit_of(start(spec));
    EXPECT_EQ(exit.start_error, "");
    return log_lines(spec.number);
  }

  std::string data_ = directory_ + "/data";
};

TEST_F(CoversTest, AHiddenFolderIsEmptyAndReadOnlyForThePodAlone) {
  const std::string look = "ls -A " + data_ + "; cat " + data_ + "/key 2>/dev/null || echo none; " +
                           "touch " + data_ + "/x 2>/dev/null || echo read-only";
  EXPECT_THAT(output_of(shell(look)), ElementsAre("stdout F none", "stdout F read-only"));
  EXPECT_EQ(read_text(data_ + "/key"), "secret\n");
}

TEST_F(CoversTest, TheHiddenFolderHasTheModeOfTheOneBelow) {
  EXPECT_THAT(output_of(shell("stat -c '%a %u' " + data_)),
              ElementsAre(fmt::format("stdout F 700 {}", geteuid())));
}

TEST_F(CoversTest, AVolumeOfAFolderAboveDoesNotShowIt) {
  RunSpec spec = shell("ls -A /mnt/data; ls -d /mnt/data/inner 2>/dev/null || echo gone");
  spec.mounts = {{directory_, "/mnt", true, true}};
  EXPECT_THAT(output_of(spec), ElementsAre("stdout F gone"));
}

TEST_F(CoversTest, AVolumeInItThatThePodNamesIsNotThere) {
  RunSpec spec = shell("true");
  spec.mounts = {{data_ + "/inner", "/mnt", true, true}};
  EXPECT_EQ(exit_of(start(spec)).start_error,
            "cannot mount " + data_ + "/inner: No such file or directory");
}

TEST_F(CoversTest, WhatTheAgentMountsFromItIsThere) {
  std::ofstream(data_ + "/inner/file") << "given\n";
  RunSpec spec = shell("cat /mnt/file; cat /dev/termination-log; ls -A " + data_);
  spec.mounts = {{data_ + "/inner", "/mnt", true}};
  spec.termination_log = data_ + "/words";
  spec.termination_log_path = "/dev/termination-log";
  EXPECT_THAT(output_of(spec), ElementsAre("stdout F given"));
}

TEST_F(CoversTest, AGateInItStillHolds) {
  ASSERT_TRUE(make_gate(data_ + "/gate"));
  RunSpec spec = shell("echo through");
  spec.gate = data_ + "/gate";
  const RunId run = start(spec);
  wait_for(run, RunPhase::kHeld);
  ASSERT_TRUE(open_gate(data_ + "/gate"));
  EXPECT_EQ(exit_of(run).code, 0);
  EXPECT_THAT(log_lines(), ElementsAre("stdout F through"));
}

// A program may be root of a user namespace of its own; what it inherits stays mounted there.
TEST_F(CoversTest, ANamespaceOfThePodsOwnDoesNotLiftIt) {
  RunSpec spec =
      shell(fmt::format("unshare -Urm sh -c 'umount {0}; umount -l {0}; mount --bind {1} "
                        "/mnt; cat {0}/key /mnt/data/key' 2>/dev/null; echo done",
                        data_, directory_));
  if (geteuid() == 0) spec.user = User{.uid = 54321, .gid = 54321, .groups = {}};
  EXPECT_THAT(output_of(spec), ElementsAre("stdout F done"));
}

// In a child: mounts of this test's own.
TEST_F(CoversTest, OtherMountsOfTheFileSystemShowTheCoverToo) {
  if (geteuid() != 0) GTEST_SKIP() << "mounts are for root";
  std::filesystem::create_directory(directory_ + "/elsewhere");
  const pid_t child = fork();
  if (child == 0) {
    const bool bound = unshare(CLONE_NEWNS) == 0 &&
                       ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount(directory_.c_str(), (directory_ + "/elsewhere").c_str(), nullptr,
                               MS_BIND, nullptr) == 0;
    const std::string other = directory_ + "/elsewhere/data/key";
    if (!bound || access(other.c_str(), F_OK) != 0) _exit(1);
    const auto places = cover_folders({data_});
    if (!places || access(other.c_str(), F_OK) == 0) _exit(2);
    lift_covers(*places);
    _exit(access(other.c_str(), F_OK) == 0 && access((data_ + "/key").c_str(), F_OK) == 0 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace covers_test
}  // namespace muster::runtime
