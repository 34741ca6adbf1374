// What may leave the disk, and in which order.
#include "store/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace history_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class HistoryTest : public ::testing::Test {
 protected:
  static ObjectPtr version(Revision revision) {
    return std::make_shared<const Object>("ns", "a", std::string(100, 'x'), revision);
  }
  void put(Revision revision) {
    const auto type = current ? Event::Type::kModified : Event::Type::kAdded;
    const ObjectPtr object = version(revision);
    history.append(0, {type, 0, revision, object, std::exchange(current, object)}, Time{});
  }
  void remove(Revision revision) {
    history.append(
        0, {Event::Type::kDeleted, 0, revision, version(revision), std::exchange(current, nullptr)},
        Time{});
  }

  History history{2, 1, {}};
  ObjectPtr current;
};

TEST_F(HistoryTest, WhatIsSupersededByADroppedEventIsGarbage) {
  put(2);
  put(3);
  put(4);
  history.drop_through(0, 3);
  EXPECT_THAT(history.garbage(10).revisions, ElementsAre(2));
  history.drop_through(0, 4);
  EXPECT_THAT(history.garbage(10).revisions, ElementsAre(2, 3));  // 4 lives
}

// In whatever batches it is forgotten, no crash in between brings the object back.
TEST_F(HistoryTest, ADeletionIsForgottenAfterWhatItDeleted) {
  put(2);
  put(3);
  remove(4);
  history.compact(4);
  EXPECT_THAT(history.garbage(10).revisions, ElementsAre(2, 3, 4));
  for (const Revision expected : {2, 3, 4}) {
    const auto batch = history.garbage(1);
    EXPECT_THAT(batch.revisions, ElementsAre(expected));
    history.forgotten(batch);
  }
  EXPECT_EQ(history.garbage_count(), 0u);
}

TEST_F(HistoryTest, FloorsAreHandedOverUntilTheyAreForgottenWith) {
  put(2);
  put(3);
  history.drop_through(0, 3);
  const auto first = history.garbage(10);
  EXPECT_THAT(first.floors, ElementsAre(Pair(0, 3u)));
  put(4);
  history.drop_through(0, 4);  // rises while the first batch is being written
  history.forgotten(first);
  const auto second = history.garbage(10);
  EXPECT_THAT(second.floors, ElementsAre(Pair(0, 4u)));
  history.forgotten(second);
  EXPECT_THAT(history.garbage(10).floors, IsEmpty());
}

TEST_F(HistoryTest, BytesComeBackToNothing) {
  EXPECT_EQ(history.bytes(), 0u);
  put(2);
  put(3);
  remove(4);
  EXPECT_GT(history.bytes(), 300u);
  history.compact(4);
  EXPECT_EQ(history.bytes(), 0u);
}

}  // namespace history_test
}  // namespace muster::store
