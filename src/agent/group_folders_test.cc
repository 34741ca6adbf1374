#include "agent/group_folders.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace muster::agent {
namespace group_folders_test {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class GroupFoldersTest : public ::testing::Test {
 protected:
  GroupFoldersTest() {
    std::string pattern = ::testing::TempDir() + "groupsXXXXXX";
    root_ = fs::canonical(::mkdtemp(pattern.data()));
    for (const char* each : {"data", "other", "tmp", "var-tmp", "shm"})
      fs::create_directory(root_ / each);
  }
  ~GroupFoldersTest() override { fs::remove_all(root_); }

  std::unique_ptr<GroupFolders> open(const std::set<std::uint32_t>& users = {},
                                     const std::string& data = "data") {
    auto made = GroupFolders::open({.directory = root_ / data / "groups",
                                    .disk_places = {root_ / "tmp", root_ / "var-tmp"},
                                    .memory = root_ / "shm"},
                                   users);
    MUSTER_ASSERT(made.has_value(), made.error().message.c_str());
    return *std::move(made);
  }
  static std::string source(const GroupFolders& folders, std::uint32_t user, std::size_t place) {
    const auto mounts = folders.mounts_for(user);
    return mounts && place < mounts->size() ? (*mounts)[place].source : "";
  }
  std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / folder))
      names.push_back(entry.path().filename());
    return names;
  }
  // The parent of all users' folders in memory, where this server's is the only one.
  std::string memory_folder() const { return "shm/" + names_in("shm").at(0); }
  // Removal is done on a thread of its own.
  bool all_gone(const std::string& folder) const {
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!names_in(folder).empty()) {
      if (std::chrono::steady_clock::now() > late) return false;
      std::this_thread::yield();
    }
    return true;
  }

  fs::path root_;
};

mode_t mode_of(const fs::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST_F(GroupFoldersTest, EachUserHasItsOwnWhereTheMachinesAre) {
  const auto folders = open();
  const auto one = folders->mounts_for(7), two = folders->mounts_for(8);
  ASSERT_TRUE(one && two);
  ASSERT_EQ(one->size(), 3U);
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < 3; ++i) {
    targets.push_back((*one)[i].target);
    const fs::path source = (*one)[i].source;
    EXPECT_NE(source, (*two)[i].source);
    EXPECT_EQ(mode_of(source), 01777U) << source;
    EXPECT_EQ(mode_of(source.parent_path()), 0700U) << "nobody else has a way to " << source;
  }
  EXPECT_THAT(targets, ElementsAre(root_ / "tmp", root_ / "var-tmp", root_ / "shm"));
  EXPECT_THAT((*one)[0].source, StartsWith(root_ / "data"));
  EXPECT_THAT((*one)[2].source, StartsWith(root_ / "shm")) << "memory stays memory";
  EXPECT_TRUE(folders->hides(root_ / "tmp/x/train.py"));
  EXPECT_FALSE(folders->hides(root_ / "tmpfile"));
}

TEST_F(GroupFoldersTest, PlacesThatAreOneOrNoneAreNotMountedTwice) {
  fs::remove(root_ / "var-tmp");
  fs::create_directory_symlink("tmp", root_ / "var-tmp");
  fs::remove(root_ / "shm");
  const auto mounts = open()->mounts_for(7);
  ASSERT_TRUE(mounts);
  ASSERT_EQ(mounts->size(), 1U);
  EXPECT_EQ(mounts->front().target, root_ / "tmp");
}

TEST_F(GroupFoldersTest, FilesStayUntilTheUserIsFreeAndNotLonger) {
  auto folders = open();
  std::ofstream(source(*folders, 7, 0) + "/kept") << "x";
  std::ofstream(source(*folders, 7, 2) + "/kept") << "x";
  folders = open({7});  // as after a restart
  EXPECT_TRUE(fs::exists(source(*folders, 7, 0) + "/kept"));
  EXPECT_TRUE(fs::exists(source(*folders, 7, 2) + "/kept"));
  ASSERT_TRUE(folders->remove(7));
  EXPECT_FALSE(fs::exists(source(*folders, 7, 0) + "/kept")) << "though removal may take long";
  EXPECT_FALSE(fs::exists(source(*folders, 7, 2) + "/kept"));
  ASSERT_TRUE(folders->remove(7));
  ASSERT_TRUE(folders->remove(7)) << "there is nothing";
  EXPECT_TRUE(all_gone(memory_folder()));
  EXPECT_TRUE(all_gone("data/groups"));
  folders = nullptr;
  EXPECT_TRUE(all_gone("shm"));
}

// A pod that can write in the machine's /dev/shm must not keep other JobSets from starting.
TEST_F(GroupFoldersTest, NobodyElseCanTakeTheNameOfAUsersFolder) {
  const auto folders = open();
  const fs::path parent = root_ / memory_folder();
  EXPECT_EQ(mode_of(parent), 0700U);
  EXPECT_EQ(parent.parent_path(), root_ / "shm");
}

TEST_F(GroupFoldersTest, WhatACrashLeftIsRemovedAtTheNextStart) {
  {
    const auto folders = open();
    for (const std::uint32_t user : {7U, 8U}) ASSERT_TRUE(folders->mounts_for(user));
  }
  fs::create_directory(root_ / "data/groups/7.removed-0");
  fs::permissions(root_ / "data/groups/7.removed-0", fs::perms::owner_all);
  std::ofstream(root_ / "data/groups/7.removed-0/half") << "x";
  const auto folders = open({8});
  EXPECT_FALSE(fs::exists(root_ / "data/groups/7"));
  EXPECT_FALSE(names_in("data/groups/8").empty());
  const std::string memory = memory_folder();
  ASSERT_TRUE(folders->remove(8));
  EXPECT_TRUE(all_gone("data/groups"));
  EXPECT_TRUE(all_gone(memory));
}

TEST_F(GroupFoldersTest, OtherServersAndOtherFilesAreLeftAlone) {
  const auto other = open({}, "other");
  ASSERT_TRUE(other->mounts_for(7));
  std::ofstream(root_ / "shm/psm_1234") << "x";
  (void)open();
  EXPECT_EQ(names_in("shm").size(), 2U);
}

TEST_F(GroupFoldersTest, AFolderThatSomebodyElseMadeFirstIsNotUsed) {
  const auto folders = open();
  const fs::path own = fs::path(source(*folders, 7, 2)).parent_path();
  fs::permissions(own, fs::perms::all);
  const auto refused = folders->mounts_for(7);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("does not belong to this server alone"));
  fs::remove_all(own);
  fs::create_directory_symlink(root_ / "tmp", own);
  EXPECT_FALSE(folders->mounts_for(7)) << "nor is a link";
  EXPECT_THAT(names_in("tmp"), IsEmpty());
}

}  // namespace group_folders_test
}  // namespace muster::agent
