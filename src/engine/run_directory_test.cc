#include "engine/run_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/data_directory.h"

namespace muster::engine {
namespace run_directory_test {

namespace fs = std::filesystem;

class RunDirectoryTest : public ::testing::Test {
 protected:
  RunDirectoryTest() {
    std::string pattern = ::testing::TempDir() + "runs-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    parent = pattern;
  }
  ~RunDirectoryTest() override { fs::remove_all(parent); }

  std::size_t folders() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(parent), fs::directory_iterator()));
  }

  fs::path parent;
};

TEST_F(RunDirectoryTest, IsGoneWithItsOwner) {
  {
    const auto run = RunDirectory::make(parent);
    ASSERT_TRUE(run);
    EXPECT_EQ(fs::status(run->path()).permissions(), fs::perms::owner_all);
    std::ofstream(run->path() + "/file") << "x";
  }
  EXPECT_EQ(folders(), 0u);
}

// Such as Go's cache of modules. Root may remove it anyway: this one is for everybody else.
TEST_F(RunDirectoryTest, WhatIsWriteProtectedIsGoneToo) {
  fs::permissions(parent, fs::perms::all);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    {
      const auto run = RunDirectory::make(parent);
      if (!run) ::_exit(3);
      fs::create_directories(run->path() + "/cache/module/deep");
      std::ofstream(run->path() + "/cache/module/deep/file") << "x";
      for (const char* folder : {"/cache/module/deep", "/cache/module", "/cache"})
        fs::permissions(run->path() + folder, fs::perms(0555));
      fs::permissions(run->path(), fs::perms(0555));
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folders(), 0u);
}

TEST_F(RunDirectoryTest, OneThatIsInUseIsNotSwept) {
  const auto run = RunDirectory::make(parent);
  EXPECT_EQ(sweep_run_directories(parent), 0);
  EXPECT_TRUE(fs::exists(run->path()));
}

TEST_F(RunDirectoryTest, WhatAKilledRunHasLeftIsSwept) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = RunDirectory::make(parent);
    std::ofstream(run->path() + "/file") << "x";
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(folders(), 1u);
  EXPECT_EQ(sweep_run_directories(parent), 1);
  EXPECT_EQ(folders(), 0u);
}

TEST_F(RunDirectoryTest, OneThatAServerUsesIsNotSwept) {
  const fs::path left = parent / "muster-run-abcdef";
  fs::create_directory(left);
  fs::permissions(left, fs::perms::owner_all);
  {
    const auto server = store::DataDirectory::lock(left);
    ASSERT_TRUE(server);
    EXPECT_EQ(sweep_run_directories(parent), 0);
  }
  EXPECT_EQ(sweep_run_directories(parent), 1);
}

TEST_F(RunDirectoryTest, LinksFilesAndOtherNamesAreLeftAlone) {
  fs::create_directory(parent / "elsewhere");
  std::ofstream(parent / "elsewhere" / "kept") << "x";
  fs::create_directory_symlink(parent / "elsewhere", parent / "muster-run-abcdef");
  std::ofstream(parent / "muster-run-fghijk") << "a file";
  fs::create_directory(parent / "muster-run-of-somebody");
  EXPECT_EQ(sweep_run_directories(parent), 0);
  EXPECT_TRUE(fs::exists(parent / "elsewhere" / "kept"));
  EXPECT_EQ(folders(), 4u);
}

TEST_F(RunDirectoryTest, ALinkInsideIsRemovedAndNotFollowed) {
  fs::create_directory(parent / "elsewhere");
  std::ofstream(parent / "elsewhere" / "kept") << "x";
  fs::create_directory(parent / "muster-run-abcdef");
  fs::create_directory_symlink(parent / "elsewhere", parent / "muster-run-abcdef" / "link");
  EXPECT_EQ(sweep_run_directories(parent), 1);
  EXPECT_TRUE(fs::exists(parent / "elsewhere" / "kept"));
}

TEST_F(RunDirectoryTest, SaysWhereItCannotBeMade) {
  const auto run = RunDirectory::make((parent / "missing").string());
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message.find("missing"), std::string::npos);
}

}  // namespace run_directory_test
}  // namespace muster::engine
