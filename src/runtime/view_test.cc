// Where mounts of hostile pods may not lead: what the machine keeps closed stays closed, and
// nothing is made in it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "runtime/testing.h"
#include "runtime/view.h"

namespace muster::runtime {
namespace view_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const User kUser{.uid = 54321, .gid = 54321, .groups = {}};

class ViewTest : public RuntimeFixture {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root has pods of other users";
    connect();
    start_pod();
    folder("volume", 0777);
  }
  std::string folder(const std::string& name, mode_t mode) {
    fs::create_directories(directory_ + "/" + name);
    chmod((directory_ + "/" + name).c_str(), mode);
    return directory_ + "/" + name;
  }
  RunSpec run(const std::string& script, std::vector<Mount> mounts) {
    RunSpec spec = shell(script, number_++);
    spec.user = kUser;
    spec.mounts = std::move(mounts);
    return spec;
  }
  RunSpec run_at(const std::string& target, const std::string& script) {
    return run(script, {{directory_ + "/volume", target, false}});
  }
  std::vector<std::string> names_in(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_ + "/" + name)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  int number_ = 0;
};

TEST_F(ViewTest, AFolderThatIsClosedToTheUserHasNoPlaceForHim) {
  folder("closed/open", 0755);
  folder("closed", 0700);
  for (const char* place : {"/closed/new", "/closed/open/new", "/closed/open"}) {
    const Exit exit = exit_of(start(run_at(directory_ + place, "true")));
    EXPECT_EQ(exit.start_error, "cannot mount at " + directory_ + place + ": Permission denied");
  }
  RunSpec words = run("true", {});
  words.termination_log = directory_ + "/words";
  words.termination_log_path = directory_ + "/closed/words";
  EXPECT_THAT(exit_of(start(words)).start_error, HasSubstr("Permission denied"));
}

TEST_F(ViewTest, ACopyOfAFolderIsOpenToNobodyElse) {
  folder("entered", 0750);
  ASSERT_EQ(chown((directory_ + "/entered").c_str(), 7, 54321), 0);
  folder("hidden/secret", 0755);
  folder("hidden", 0711);
  const std::string look = "stat -c '%u %g %a' " + directory_;
  exit_of(start(run_at(directory_ + "/entered/new", look + "/entered")));
  exit_of(start(run_at(directory_ + "/hidden/new",
                       look + "/hidden; ls " + directory_ + "/hidden 2>/dev/null || echo hidden")));
  EXPECT_THAT(log_lines(0), ElementsAre("stdout F 7 54321 750"));
  EXPECT_THAT(log_lines(1), ElementsAre("stdout F 0 0 711", "stdout F hidden"));
}

TEST_F(ViewTest, CopiesThatOthersCouldNotWriteAreReadOnlyAlsoInCopiesOfFoldersAbove) {
  folder("above/below", 0755);
  ASSERT_EQ(chown((directory_ + "/above/below").c_str(), kUser.uid, kUser.gid), 0);
  const std::string above = directory_ + "/above";
  const std::string script = "cd " + above +
                             "; touch below/x 2>/dev/null || echo sealed; touch below/n/x "
                             "a-longer-name-than-that/x && echo volumes";
  const Exit exit = exit_of(
      start(run(script, {{directory_ + "/volume", above + "/below/n", false},
                         {directory_ + "/volume", above + "/a-longer-name-than-that", false}})));
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(log_lines(), ElementsAre("stdout F sealed", "stdout F volumes"));
  EXPECT_THAT(names_in("above/below"), IsEmpty());
}

TEST_F(ViewTest, ACopyOfAFolderForEverybodyHasRoom) {
  folder("shared", 01777);
  const std::string shared = directory_ + "/shared";
  const Exit exit =
      exit_of(start(run_at(shared + "/new", "head -c 20000000 /dev/zero > " + shared + "/file")));
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(names_in("shared"), IsEmpty());
}

TEST_F(ViewTest, InAVolumeThatIsTheMachinesOnlyWhatTheUserMayMakeIsMade) {
  const std::string theirs = folder("theirs", 0755);
  folder("theirs/there", 0755);
  const Mount host{theirs, "/mnt", false, true};
  const Mount inside{directory_ + "/volume", "/mnt/new/deep", false};
  EXPECT_EQ(exit_of(start(run("true", {host, inside}))).start_error,
            "cannot make /mnt/new/deep: Permission denied");
  RunSpec words = run("true", {host});
  words.termination_log = directory_ + "/words";
  words.termination_log_path = "/mnt/words";
  EXPECT_EQ(exit_of(start(words)).start_error, "cannot make /mnt/words: Permission denied");
  EXPECT_THAT(names_in("theirs"), ElementsAre("there"));
  const Mount existing{directory_ + "/volume", "/mnt/there", false};
  EXPECT_EQ(exit_of(start(run("touch /mnt/there/x", {host, existing}))).code, 0);
  chmod(theirs.c_str(), 0777);
  EXPECT_EQ(exit_of(start(run("touch /mnt/new/deep/x", {host, inside}))).code, 0);
  struct stat info{};
  EXPECT_EQ(stat((theirs + "/new/deep").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kUser.uid);
}

TEST_F(ViewTest, AVolumeDoesNotShowTheProcessesOfOthers) {
  EXPECT_EQ(exit_of(start(run("true", {{"/proc", "/mnt", false, true}}))).start_error,
            "cannot mount /proc: it shows the processes of all pods");
  EXPECT_THAT(exit_of(start(run("true", {{"/proc/sys", "/mnt", false, true}}))).start_error,
              HasSubstr("processes"));
  const Exit exit = exit_of(start(
      run("ls -A /mnt/proc; ls -d /mnt/etc; ls -d /proc/self/root", {{"/", "/mnt", true, true}})));
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(log_lines(2), ElementsAre("stdout F /mnt/etc", "stdout F /proc/self/root"));
}

// Only what the machine's /proc says counts, not what a pod says in its place.
TEST_F(ViewTest, AVolumeAtTheProcessesPlaceHidesNoMounts) {
  folder("volume/self", 0755);
  std::ofstream(directory_ + "/volume/self/mountinfo") << "";
  const Exit exit = exit_of(start(run(
      "ls -A /mnt/proc", {{directory_ + "/volume", "/proc", false}, {"/", "/mnt", true, true}})));
  EXPECT_EQ(exit.code, 0) << exit.start_error;
  EXPECT_THAT(log_lines(), IsEmpty());
}

// S6: two links change places all the time while root makes a place behind one of them.
TEST_F(ViewTest, NoSwapOfLinksLeadsAPlaceAstray) {
  const char* const wanted = std::getenv("MUSTER_RACE_TRIES");
  const int tries = wanted != nullptr ? std::atoi(wanted) : 300;
  folder("victim", 0755);
  folder("own", 0777);
  const std::string shared = folder("shared", 0777);
  fs::create_directory_symlink(directory_ + "/victim", shared + "/a");
  fs::create_directory_symlink(directory_ + "/own", shared + "/b");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    const UniqueFd at(open(shared.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    while (!stop) renameat2(at.get(), "a", at.get(), "b", RENAME_EXCHANGE);
  });
  int mounted = 0;
  for (int i = 0; i < tries; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool alone = unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
      const std::string place = fmt::format("{}/a/new{}", shared, i);
      View view(kUser);
      const auto source = View::take({directory_ + "/volume", place, false});
      const auto nested = View::take({directory_ + "/volume", place + "/nested", false});
      const bool made = alone && source && nested && view.mount(*source);
      _exit(made && view.mount(*nested).has_value() ? 0 : made ? 1 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 2) ++mounted;
  }
  stop = true;
  swapper.join();
  EXPECT_GT(mounted, 0);
  EXPECT_THAT(names_in("victim"), IsEmpty());
  EXPECT_THAT(names_in("own"), IsEmpty());
}

}  // namespace view_test
}  // namespace muster::runtime
