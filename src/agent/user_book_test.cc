#include "agent/user_book.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "agent/identity.h"
#include "json/parse.h"

namespace muster::agent {
namespace user_book_test {

using ::testing::HasSubstr;

class UserBookTest : public ::testing::Test {
 protected:
  UserBookTest() {
    std::string pattern = ::testing::TempDir() + "usersXXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~UserBookTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<UserBook> open(const std::string& name = "book", UserRange range = {7000, 7002}) {
    auto book = UserBook::open({.file = directory_ + "/" + name,
                                .claims_folder = directory_ + "/claims",
                                .range = range,
                                .is_taken = [this](std::uint32_t user) { return user == known_; }});
    MUSTER_ASSERT(book.has_value(), book.error().message.c_str());
    return *std::move(book);
  }
  static std::uint32_t user(UserBook& book, const std::string& group, const std::string& pod) {
    const auto found = book.user_for(group, pod);
    return found ? found->uid : 0;
  }
  std::uint32_t known_ = 0;  // to the machine
  std::string directory_;
};

TEST_F(UserBookTest, PodsOfAGroupShareAUserAndOthersHaveAnother) {
  const auto book = open();
  const std::uint32_t one = user(*book, "d/one", "p1");
  EXPECT_EQ(user(*book, "d/one", "p2"), one);
  EXPECT_NE(user(*book, "d/two", "p3"), one);
  EXPECT_GE(one, 7000U);
  EXPECT_LE(one, 7002U);
  const auto found = book->user_for("d/one", "p1");
  EXPECT_EQ(found->gid, one);
  EXPECT_TRUE(found->groups.empty());
}

// The uid of a pod's owner is any text that a client likes.
TEST(TrustGroup, WhatAClientNamesMakesNoLineOfItsOwn) {
  json::Arena arena;
  const auto group_of = [&](std::string_view uid) {
    const json::Value pod = json::Value::object(arena);
    pod.object_at("metadata").set("namespace", "d");
    const json::Value owner = json::Value::object(arena);
    owner.set("controller", json::Value::of(true));
    owner.set("uid", uid);
    pod.object_at("metadata").array_at("ownerReferences").push_back(owner);
    return trust_group_of(pod);
  };
  EXPECT_EQ(group_of("0b-1_2.x"), "d/0b-1_2.x");
  EXPECT_EQ(group_of("zz\n0 d/rt"), "d/zz%0a0%20d/rt");
  EXPECT_NE(group_of("a%20b"), group_of("a b"));
  EXPECT_EQ(group_of("%"), "d/%25");
}

TEST_F(UserBookTest, ABookThatIsNotAsItWasWrittenIsRefused) {
  for (const char* text :
       {"0 d/rt\n", "x d/rt\n", "7001\n", "7001 \n", "7001 d/a b\n", "garbage\n", "\n",
        "7001 d/a\n7001 d/b\n", "7001 d/a\n7002 d/a\n", "99999999999999999999 d/a\n", "7001 d/a"}) {
    std::ofstream(directory_ + "/book") << text;
    const auto book = UserBook::open({.file = directory_ + "/book",
                                      .claims_folder = directory_ + "/claims",
                                      .range = {7000, 7002},
                                      .is_taken = [](std::uint32_t) { return false; }});
    ASSERT_FALSE(book) << text;
    EXPECT_THAT(book.error().message, HasSubstr("book is damaged in line ")) << text;
  }
  std::filesystem::remove(directory_ + "/book");
  std::filesystem::create_directory(directory_ + "/book");
  EXPECT_FALSE(UserBook::open({.file = directory_ + "/book",
                               .claims_folder = directory_ + "/claims",
                               .range = {7000, 7002},
                               .is_taken = [](std::uint32_t) { return false; }}));
}

TEST_F(UserBookTest, UsersThatTheMachineKnowsAreNotTaken) {
  known_ = 7001;
  const auto book = open();
  EXPECT_NE(user(*book, "d/one", "p1"), 7001U);
  EXPECT_NE(user(*book, "d/two", "p2"), 7001U);
  const auto none = book->user_for("d/three", "p3");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "all users from 7000 to 7002 are taken (--pod-users)");
}

TEST_F(UserBookTest, ARestartedAgentKnowsThemUntilItIsClearWhoIsLeft) {
  std::uint32_t one = 0, two = 0;
  {
    const auto book = open();
    one = user(*book, "d/one", "p1");
    two = user(*book, "d/two", "p2");
  }
  const auto book = open();
  book->keep("d/one", "p1");
  book->keep("d/strange", "p9");  // it has none, and gets none by that
  EXPECT_NE(user(*book, "d/three", "p3"), two);
  book->release_unused();
  EXPECT_EQ(user(*book, "d/one", "p4"), one);
  EXPECT_EQ(user(*book, "d/four", "p5"), two) << "the only one that is free";
}

TEST_F(UserBookTest, AUserIsFreeWhenTheLastPodIsGone) {
  const auto book = open("book", {7000, 7000});
  ASSERT_EQ(user(*book, "d/one", "p1"), 7000U);
  ASSERT_EQ(user(*book, "d/one", "p2"), 7000U);
  book->drop("p1");
  EXPECT_EQ(user(*book, "d/two", "p3"), 0U);
  book->drop("p2");
  book->drop("p2");
  EXPECT_EQ(user(*book, "d/two", "p3"), 7000U);
  EXPECT_EQ(user(*open("book", {7000, 7000}), "d/two", "p3"), 7000U);
}

TEST_F(UserBookTest, ServersOfOneMachineTakeDifferentOnes) {
  const auto one = open("a"), two = open("b");
  std::set<std::uint32_t> users = {user(*one, "d/x", "p1"), user(*two, "d/x", "p2"),
                                   user(*two, "d/y", "p3")};
  EXPECT_EQ(users.size(), 3U);
  EXPECT_FALSE(one->user_for("d/z", "p4"));
  std::filesystem::remove(directory_ + "/b");  // with its data directory: its claims end
  EXPECT_NE(user(*one, "d/z", "p4"), 0U);
}

TEST_F(UserBookTest, AfterTheMachineStartedTheBookClaimsAgain) {
  const std::uint32_t mine = user(*open("a"), "d/x", "p1");
  std::filesystem::remove_all(directory_ + "/claims");
  const auto again = open("a");
  const auto other = open("b", {mine, mine});
  EXPECT_FALSE(other->user_for("d/y", "p2"));
}

TEST_F(UserBookTest, ABookThatCannotBeWrittenGivesNoUser) {
  const auto book = open("no/such/folder");
  EXPECT_FALSE(book->user_for("d/one", "p1"));
}

TEST_F(UserBookTest, FoldersGoWithTheUserAndNotBefore) {
  for (const char* each : {"/tmp", "/shm"}) std::filesystem::create_directory(directory_ + each);
  auto opened =
      UserBook::open({.file = directory_ + "/book",
                      .claims_folder = directory_ + "/claims",
                      .range = {7000, 7000},
                      .is_taken = [](std::uint32_t) { return false; },
                      .folders = GroupFolders::Options{.directory = directory_ + "/groups",
                                                       .disk_places = {directory_ + "/tmp"},
                                                       .memory = directory_ + "/shm"}});
  ASSERT_TRUE(opened) << opened.error().message;
  UserBook& book = **opened;
  EXPECT_TRUE(book.folders_of("d/one")->empty()) << "it has no user yet";
  ASSERT_EQ(user(book, "d/one", "p1"), 7000U);
  const auto folders = book.folders_of("d/one");
  ASSERT_EQ(folders->size(), 2U);
  const std::string file = folders->front().source + "/file";
  std::ofstream(file) << "x";
  ASSERT_EQ(user(book, "d/one", "p2"), 7000U);
  book.drop("p1");
  EXPECT_TRUE(std::filesystem::exists(file));
  book.drop("p2");
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_EQ(user(book, "d/two", "p3"), 7000U);
  EXPECT_EQ(book.folders_of("d/two")->front().source + "/file", file);
  EXPECT_FALSE(std::filesystem::exists(file)) << "nothing of the one before";
}

TEST(TrustGroup, IsTheJobSetOrTheOwnerOrThePodInItsNamespace) {
  const auto group = [](std::string_view metadata) {
    json::Arena arena;
    return trust_group_of(*json::parse(arena, fmt::format("{{\"metadata\":{}}}", metadata)));
  };
  EXPECT_EQ(group(R"({"namespace":"n","uid":"p","labels":{"jobset.sigs.k8s.io/jobset-uid":"s"},)"
                  R"("ownerReferences":[{"uid":"j","controller":true}]})"),
            "n/s");
  EXPECT_EQ(group(R"({"namespace":"n","uid":"p","ownerReferences":[{"uid":"x"},)"
                  R"({"uid":"j","controller":true}]})"),
            "n/j");
  EXPECT_EQ(group(R"({"namespace":"n","uid":"p"})"), "n/p");
}

}  // namespace user_book_test
}  // namespace muster::agent
