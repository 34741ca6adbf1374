#include "base/contained_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace muster {
namespace contained_path_test {

namespace fs = std::filesystem;

class ContainedPath : public testing::Test {
 protected:
  ContainedPath() {
    std::string pattern = testing::TempDir() + "beneathXXXXXX";
    top_ = ::mkdtemp(pattern.data());
    fs::create_directories(top_ + "/root/a/b");
    fs::create_directories(top_ + "/outside/b");
    std::ofstream(top_ + "/outside/secret") << "secret";
    std::ofstream(top_ + "/root/file") << "inside";
    root_ = *open_folder(top_ + "/root");
  }
  ~ContainedPath() override {
    const UniqueFd parent = *open_folder(fs::path(top_).parent_path());
    EXPECT_TRUE(remove_beneath(parent.get(), fs::path(top_).filename()));
  }
  bool opens(std::string_view path) { return open_beneath(root_.get(), path).has_value(); }

  std::string top_;
  UniqueFd root_;
};

TEST_F(ContainedPath, OpensWhatIsThere) {
  EXPECT_TRUE(opens("a"));
  EXPECT_TRUE(opens("a/b"));
  EXPECT_TRUE(opens("file"));
  EXPECT_TRUE(opens(""));
  EXPECT_EQ(open_beneath(root_.get(), "none").error().code, Code::kNotFound);
  EXPECT_FALSE(opens("file/x"));
  EXPECT_TRUE(open_beneath(top_ + "/root", "a/b"));
  EXPECT_FALSE(open_beneath(top_ + "/none", "a"));
}

TEST_F(ContainedPath, PathsThatAreNotPlainAreRefused) {
  for (const std::string_view path :
       {"..", "../outside", "a/../..", "/etc", ".", "a/./b", "a//b", "a/", "/"}) {
    EXPECT_FALSE(is_plain_path(path)) << path;
    EXPECT_EQ(open_beneath(root_.get(), path).error().code, Code::kInvalid) << path;
    EXPECT_FALSE(make_folders_beneath(root_.get(), path, 0755)) << path;
  }
  EXPECT_FALSE(is_plain_path(""));
  EXPECT_FALSE(is_plain_path(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_plain_path("..a/b.."));
}

TEST_F(ContainedPath, LinksAreNotFollowedWhereverTheyLead) {
  fs::create_directory_symlink("../outside", top_ + "/root/out");
  fs::create_directory_symlink("a", top_ + "/root/in");
  fs::create_symlink("/etc/passwd", top_ + "/root/a/passwd");
  fs::create_symlink("nowhere", top_ + "/root/dangling");
  for (const char* path : {"out", "out/secret", "in", "in/b", "a/passwd", "dangling"}) {
    EXPECT_FALSE(opens(path)) << path;
    EXPECT_FALSE(make_folders_beneath(root_.get(), path, 0777)) << path;
  }
  EXPECT_FALSE(make_folders_beneath(root_.get(), "out/new", 0777));
  EXPECT_FALSE(fs::exists(top_ + "/outside/new"));
  EXPECT_FALSE(fs::exists(top_ + "/root/nowhere"));
}

TEST_F(ContainedPath, MakesWhatIsMissingWithExactlyItsMode) {
  const mode_t umask = ::umask(077);
  const auto made = make_folders_beneath(root_.get(), "a/x/y", 0777);
  ::umask(umask);
  ASSERT_TRUE(made);
  EXPECT_EQ(fs::status(top_ + "/root/a/x/y").permissions(), fs::perms(0777));
  EXPECT_EQ(fs::status(top_ + "/root/a/x").permissions(), fs::perms(0777));
  EXPECT_TRUE(fs::equivalent(path_of(*made), top_ + "/root/a/x/y"));
  EXPECT_TRUE(make_folders_beneath(root_.get(), "a/x/y", 0700));
  EXPECT_EQ(fs::status(top_ + "/root/a/x/y").permissions(), fs::perms(0777));
  EXPECT_FALSE(make_folders_beneath(root_.get(), "file/x", 0777));
}

TEST_F(ContainedPath, RemovesAllBelowAndNothingBesides) {
  fs::create_directory_symlink(top_ + "/outside", top_ + "/root/a/link");
  fs::create_directory_symlink(top_ + "/outside", top_ + "/root/toplink");
  std::ofstream(top_ + "/root/a/b/file") << "x";
  ASSERT_TRUE(remove_beneath(root_.get(), "a"));
  ASSERT_TRUE(remove_beneath(root_.get(), "toplink"));
  ASSERT_TRUE(remove_beneath(root_.get(), "file"));
  ASSERT_TRUE(remove_beneath(root_.get(), "never was there"));
  EXPECT_TRUE(fs::is_empty(top_ + "/root"));
  EXPECT_TRUE(fs::exists(top_ + "/outside/secret"));
  EXPECT_FALSE(remove_beneath(root_.get(), ".."));
  EXPECT_FALSE(remove_beneath(root_.get(), "a/b"));
}

TEST_F(ContainedPath, RemovesWriteProtectedFolders) {
  fs::create_directories(top_ + "/root/a/b/c/d");
  std::ofstream(top_ + "/root/a/b/c/file") << "x";
  for (const char* path : {"/root/a/b/c/d", "/root/a/b/c", "/root/a/b", "/root/a"})
    ASSERT_EQ(::chmod((top_ + path).c_str(), 0), 0);
  ASSERT_TRUE(remove_beneath(root_.get(), "a"));
  EXPECT_FALSE(fs::exists(top_ + "/root/a"));
}

TEST_F(ContainedPath, RemovesTreesDeeperThanAnyPath) {
  constexpr int kDepth = 100;  // with names of 200 letters: five times PATH_MAX
  const std::string name(200, 'd');
  UniqueFd at = *open_beneath(root_.get(), "a");
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = UniqueFd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
  }
  ASSERT_TRUE(remove_beneath(root_.get(), "a"));
  EXPECT_FALSE(fs::exists(top_ + "/root/a"));
}

// S6. Somebody swaps a folder for a link to the outside, and back, while it is being opened and
// made. The long form is MUSTER_RACE_TRIES=1000000.
TEST_F(ContainedPath, NoSwapOfLinksLeadsOutside) {
  const char* const wanted = std::getenv("MUSTER_RACE_TRIES");
  const long tries = wanted != nullptr ? std::atol(wanted) : 20'000;
  fs::create_directory_symlink("../outside", top_ + "/root/link");
  struct stat outside{};
  ASSERT_EQ(::stat((top_ + "/outside/b").c_str(), &outside), 0);
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    const UniqueFd root = *open_folder(top_ + "/root");
    while (!stop) ::renameat2(root.get(), "a", root.get(), "link", RENAME_EXCHANGE);
  });
  long opened = 0;
  long refused = 0;
  for (long i = 0; i < tries; ++i) {
    const auto found = i % 2 == 0 ? open_beneath(root_.get(), "a/b")
                                  : make_folders_beneath(root_.get(), "a/b/new", 0777);
    if (!found) {
      ++refused;
      continue;
    }
    struct stat info{};
    ASSERT_EQ(::fstat(found->get(), &info), 0);
    ASSERT_NE(info.st_ino, outside.st_ino);
    ++opened;
  }
  stop = true;
  swapper.join();
  EXPECT_FALSE(fs::exists(top_ + "/outside/b/new"));
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
}

// The same for removal: what lies outside survives.
TEST_F(ContainedPath, NoSwapOfLinksLetsARemovalOut) {
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    const UniqueFd root = *open_folder(top_ + "/root");
    (void)!::symlinkat("../outside", root.get(), "link");
    while (!stop) ::renameat2(root.get(), "a", root.get(), "link", RENAME_EXCHANGE);
  });
  for (int i = 0; i < 100; ++i) {
    (void)remove_beneath(root_.get(), "a").has_value();
    ::mkdirat(root_.get(), "a", 0700);
    ::mkdirat(root_.get(), "a/x", 0700);
  }
  stop = true;
  swapper.join();
  EXPECT_TRUE(fs::exists(top_ + "/outside/secret"));
  EXPECT_TRUE(fs::exists(top_ + "/outside/b"));
}

}  // namespace contained_path_test
}  // namespace muster
