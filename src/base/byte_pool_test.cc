#include "base/byte_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace byte_pool_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time kStart{std::chrono::seconds(1'800'000'000)};
constexpr Duration kPatience = std::chrono::seconds(2);

class BytePoolTest : public testing::Test {
 protected:
  BytePool::Id enter(std::string address, std::string identity, std::size_t bytes, Time now) {
    const BytePool::Id id = pool.enter({std::move(address), std::move(identity)}, now,
                                       [this](BytePool::Id other) { displaced.push_back(other); });
    fits = pool.resize(id, bytes, now);
    if (!fits) pool.leave(id);
    return id;
  }

  BytePool pool{{.total = 100, .per_address = 50, .per_identity = 25, .patience = kPatience}};
  std::vector<BytePool::Id> displaced;
  bool fits = false;
};

TEST_F(BytePoolTest, AnIdentityThatHoldsItsShareDoesNotStopAnother) {
  enter("a", "mallory", 25, kStart);
  EXPECT_TRUE(fits);
  enter("a", "mallory", 1, kStart);
  EXPECT_FALSE(fits) << "its share is used up";
  enter("a", "alice", 25, kStart);
  EXPECT_TRUE(fits) << "others at the same address have their own";
}

TEST_F(BytePoolTest, AnAddressThatHoldsItsShareDoesNotStopAnother) {
  enter("a", "", 50, kStart);
  EXPECT_TRUE(fits);
  enter("a", "", 1, kStart);
  EXPECT_FALSE(fits);
  enter("b", "", 50, kStart);
  EXPECT_TRUE(fits);
  enter("c", "", 1, kStart);
  EXPECT_FALSE(fits) << "all together are bounded, too";
  EXPECT_THAT(displaced, IsEmpty());
}

TEST_F(BytePoolTest, WhatLastsTooLongMakesRoomForWhatIsNew) {
  const auto slow = enter("a", "mallory", 10, kStart);
  const auto later = enter("a", "mallory", 15, kStart);
  enter("b", "bob", 25, kStart);
  enter("a", "mallory", 20, kStart + kPatience);
  EXPECT_TRUE(fits);
  EXPECT_THAT(displaced, ElementsAre(slow, later)) << "the oldest of its own share, not bob's";
  EXPECT_FALSE(pool.resize(slow, 11, kStart + kPatience)) << "it is forgotten";
}

TEST_F(BytePoolTest, WhatGrowsByteByByteIsNotYoung) {
  const auto slow = enter("a", "mallory", 24, kStart);
  EXPECT_TRUE(pool.resize(slow, 25, kStart + kPatience));
  enter("a", "mallory", 1, kStart + kPatience);
  EXPECT_TRUE(fits);
  EXPECT_THAT(displaced, ElementsAre(slow));
}

TEST_F(BytePoolTest, WhatIsKeptIsNotDisplaced) {
  const auto whole = enter("a", "alice", 25, kStart);
  pool.keep(whole);
  enter("a", "alice", 1, kStart + kPatience);
  EXPECT_FALSE(fits);
  EXPECT_THAT(displaced, IsEmpty());
  pool.leave(whole);
  enter("a", "alice", 25, kStart + kPatience);
  EXPECT_TRUE(fits) << "its room is free when it is answered";
}

TEST_F(BytePoolTest, RefusedAndFinishedHoldingsLeaveNothingBehind) {
  const auto first = enter("a", "alice", 20, kStart);
  for (int i = 0; i < 1'000; ++i) pool.leave(enter("a", "alice", 6, kStart));
  EXPECT_FALSE(fits);
  EXPECT_EQ(pool.bytes(), 20U);
  pool.leave(first);
  for (int i = 0; i < 1'000; ++i) pool.leave(enter("a", "alice", 25, kStart));
  EXPECT_TRUE(fits);
  EXPECT_EQ(pool.bytes(), 0U);
}

TEST_F(BytePoolTest, WhatIsAloneAlwaysFits) {
  const auto huge = enter("a", "alice", 1'000, kStart);
  EXPECT_TRUE(fits);
  enter("b", "bob", 1, kStart);
  EXPECT_FALSE(fits) << "but nothing fits beside it";
  EXPECT_TRUE(pool.resize(huge, 10, kStart)) << "what shrinks is never refused";
  enter("b", "bob", 1, kStart);
  EXPECT_TRUE(fits);
}

TEST_F(BytePoolTest, WhatCanWaitDisplacesNobodyAndKeepsWhatItHas) {
  enter("a", "alice", 20, kStart);
  const auto stream = enter("a", "alice", 5, kStart);
  EXPECT_FALSE(pool.resize_if_free(stream, 6));
  EXPECT_EQ(pool.bytes(), 25U);
  EXPECT_TRUE(pool.resize_if_free(stream, 4));
  EXPECT_TRUE(pool.resize_if_free(stream, 5));
  EXPECT_TRUE(pool.resize(stream, 6, kStart + kPatience)) << "unlike this one";
}

TEST_F(BytePoolTest, TheOldestCanBeDisplacedForOtherReasons) {
  const auto kept = enter("a", "alice", 1, kStart);
  pool.keep(kept);
  const auto oldest = enter("a", "bob", 1, kStart);
  enter("a", "carol", 1, kStart);
  EXPECT_FALSE(pool.displace_oldest(kStart)) << "none is old yet";
  EXPECT_TRUE(pool.displace_oldest(kStart + kPatience));
  EXPECT_THAT(displaced, ElementsAre(oldest));
  EXPECT_EQ(pool.bytes(), 2U);
}

}  // namespace byte_pool_test
}  // namespace muster
