// Pods of JobSets that have users, folders and bounds of their own.
#include <gmock/gmock.h>

#include <fstream>

#include "agent/testing.h"

namespace muster::agent {
namespace own_users_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kOnePod = R"({"restartPolicy":"Never","containers":[{"name":"a"}]})";
constexpr std::uint32_t kFirstUser = 7000;

class OwnUsersTest : public ::testing::Test {
 protected:
  OwnUsersTest() {
    for (const char* each : {"tmp", "shm"})
      std::filesystem::create_directory(node_.directory + "/" + each);
    node_.options.identity = {.uid = 0, .pod_user = {.uid = 65534, .gid = 65534, .groups = {}}};
    node_.options.job_set_processes = 500;
    node_.machine.set_programs([this](const runtime::RunSpec& spec) {
      specs_.push_back(spec);
      return runtime::FakeProgram{};
    });
  }
  void start(std::uint32_t last = kFirstUser + 9) {
    node_.stop_agent();
    auto book =
        UserBook::open({.file = node_.directory + "/users",
                        .claims_folder = node_.directory + "/claims-of-users",
                        .range = {.first = kFirstUser, .last = last},
                        .is_taken = [](std::uint32_t) { return false; },
                        .folders = GroupFolders::Options{.directory = node_.directory + "/groups",
                                                         .disk_places = {node_.directory + "/tmp"},
                                                         .memory = node_.directory + "/shm"}});
    ASSERT_TRUE(book) << book.error().message;
    book_ = *std::move(book);
    node_.options.users = book_.get();
    node_.start_agent();
  }
  // The sources of what the last container sees in these places.
  std::vector<std::string> seen_in(const std::string& place) const {
    std::vector<std::string> sources;
    for (const runtime::Mount& mount : specs_.back().mounts)
      if (mount.target == node_.directory + "/" + place) sources.push_back(mount.source);
    return sources;
  }
  std::string book_text() const {
    std::ifstream file(node_.directory + "/users");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<runtime::RunSpec> specs_;
  std::unique_ptr<UserBook> book_;
  testing::TestNode node_;
};

TEST_F(OwnUsersTest, APodHasAUserFoldersAndABound) {
  start();
  node_.make_pod("p", kOnePod);
  node_.make_pod("q", kOnePod);
  ASSERT_EQ(specs_.size(), 2U);
  EXPECT_NE(specs_[0].user->uid, specs_[1].user->uid);
  EXPECT_GE(specs_[1].user->uid, kFirstUser);
  EXPECT_EQ(specs_[1].user_processes, 500);
  EXPECT_THAT(
      seen_in("tmp"),
      ElementsAre(HasSubstr(fmt::format("{}/groups/{}/", node_.directory, specs_[1].user->uid))));
  EXPECT_EQ(seen_in("shm").size(), 1U);
}

TEST_F(OwnUsersTest, WhatTheContainerWantsInSuchAPlaceCounts) {
  start();
  const auto spec = [this](const std::string& target) {
    return fmt::format(R"({{"volumes":[{{"name":"v","emptyDir":{{}}}}],"containers":[{{"name":"a",)"
                       R"("volumeMounts":[{{"name":"v","mountPath":"{}"}}]}}]}})",
                       target);
  };
  node_.make_pod("there", spec(node_.directory + "/tmp"));
  EXPECT_THAT(seen_in("tmp"), ElementsAre(HasSubstr("/volumes/v")));
  EXPECT_EQ(seen_in("shm").size(), 1U);
  node_.make_pod("above", spec(node_.directory));
  EXPECT_THAT(seen_in("tmp"), IsEmpty());
  node_.make_pod("below", spec(node_.directory + "/tmp/deep"));
  EXPECT_THAT(seen_in("tmp"), ElementsAre(HasSubstr("/groups/")));
}

TEST_F(OwnUsersTest, AReadOnlyRootHasNoWritableFolders) {
  start();
  node_.make_pod("p", R"({"containers":[{"name":"a","securityContext":)"
                      R"({"readOnlyRootFilesystem":true}}]})");
  for (const runtime::Mount& mount : specs_.back().mounts) EXPECT_TRUE(mount.read_only);
}

TEST_F(OwnUsersTest, AUserThatTheContainerAsksForIsNotBounded) {
  node_.options.identity.any_user = true;
  start();
  node_.make_pod("p", R"({"securityContext":{"runAsUser":9},"containers":[{"name":"a"}]})");
  EXPECT_EQ(specs_.back().user->uid, 9U);
  EXPECT_EQ(specs_.back().user_processes, 0) << "that counts processes of no pod, too";
}

TEST_F(OwnUsersTest, WithoutAUserAPodWaitsAndSaysSo) {
  start(kFirstUser);
  node_.make_pod("p", kOnePod);
  node_.make_pod("q", kOnePod);
  EXPECT_EQ(node_.phase("q"), "Pending");
  EXPECT_THAT(node_.events("q"),
              Contains("Warning FailedCreatePodSandBox: Failed to create pod sandbox: all users "
                       "from 7000 to 7000 are taken (--pod-users)"));
  EXPECT_EQ(specs_.size(), 1U);
  node_.ends("p", "a", 0);
  node_.delete_pod("p", 0);
  node_.pass(std::chrono::minutes(3));
  EXPECT_EQ(node_.phase("q"), "Running");
  EXPECT_EQ(specs_.back().user->uid, kFirstUser);
}

TEST_F(OwnUsersTest, PodsThatAreOverKeepTheUserOverARestart) {
  start();
  node_.make_pod("p", kOnePod);
  node_.ends("p", "a", 0);
  const std::string before = book_text();
  EXPECT_THAT(before, HasSubstr(node_.uid("p")));
  start();
  EXPECT_EQ(book_text(), before);
  node_.delete_pod("p", 0);
  EXPECT_EQ(book_text(), "");
}

}  // namespace own_users_test
}  // namespace muster::agent
