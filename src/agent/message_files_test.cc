#include "agent/message_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace muster::agent {
namespace message_files_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MessageFilesTest : public ::testing::Test {
 protected:
  MessageFilesTest() {
    std::string pattern = ::testing::TempDir() + "messages-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~MessageFilesTest() override { std::filesystem::remove_all(folder_); }

  static runtime::RunId run(int number, std::string uid = "u1") {
    return {std::move(uid), "main", number};
  }
  // As the runtime does.
  void leave_words(const MessageFiles& messages, const runtime::RunId& of) {
    std::ofstream(messages.file(of)) << "bye";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.push_back(entry.path().filename());
    std::ranges::sort(found);
    return found;
  }

  std::string folder_;
};

TEST_F(MessageFilesTest, AFileThatIsDiscardedIsTheNextRunsEmptyOne) {
  MessageFiles messages(folder_);
  messages.expect(run(0));
  EXPECT_THAT(names(), IsEmpty());  // the runtime makes it
  leave_words(messages, run(0));
  messages.discard("u1");
  EXPECT_THAT(names(), ElementsAre("0.spare"));
  messages.expect(run(0, "u2"));
  EXPECT_THAT(names(), ElementsAre("u2_main_0"));
  EXPECT_EQ(std::filesystem::file_size(messages.file(run(0, "u2"))), 0U);
}

TEST_F(MessageFilesTest, OfAContainerTheLastTwoAreKept) {
  MessageFiles messages(folder_);
  for (int number = 0; number < 4; ++number) {
    messages.expect(run(number));
    leave_words(messages, run(number));
  }
  EXPECT_THAT(names(), ElementsAre("u1_main_2", "u1_main_3"));
  messages.discard("u1");
  EXPECT_THAT(names(), ElementsAre("0.spare", "1.spare"));
}

TEST_F(MessageFilesTest, WhatPodsOfAnEarlierLifeLeftIsFound) {
  {
    MessageFiles messages(folder_);
    for (const char* uid : {"u1", "u2", "u3"}) {
      messages.expect(run(0, uid));
      leave_words(messages, run(0, uid));
    }
    messages.discard("u3");
  }
  MessageFiles messages(folder_);
  messages.discard_all_but({"u1"});
  EXPECT_THAT(names(), ElementsAre("0.spare", "1.spare", "u1_main_0"));
  messages.discard("u1");
  EXPECT_THAT(names(), ElementsAre("0.spare", "1.spare", "2.spare"));
}

// Else it would see the words of the next one, and could change them.
TEST_F(MessageFilesTest, AFileThatSomebodyStillHasIsNobodysNext) {
  MessageFiles messages(folder_);
  messages.expect(run(0));
  leave_words(messages, run(0));
  const std::ifstream kept(messages.file(run(0)));
  messages.discard("u1");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(MessageFilesTest, AFolderThatIsNotThereIsNoTrouble) {
  MessageFiles messages(folder_ + "/none");
  messages.expect(run(2));
  messages.discard("u1");
  messages.discard_all_but({});
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace message_files_test
}  // namespace muster::agent
