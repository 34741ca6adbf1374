#include "base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace muster {
namespace rng_test {

TEST(Rng, SameSeedSameNumbers) {
  Rng a(42);
  Rng b(42);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Rng, NeighbouringSeedsDiffer) {
  Rng a(1);
  Rng b(2);
  EXPECT_NE(a.next(), b.next());
}

TEST(Rng, BelowReachesEveryNumberAndNoOther) {
  Rng rng(7);
  std::array<int, 5> counts{};
  for (int i = 0; i < 5000; ++i) ++counts.at(rng.below(5));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Rng, BelowOneIsAlwaysZero) {
  Rng rng(7);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rng.below(1), 0U);
}

TEST(Rng, ChanceKeepsToItsProbability) {
  Rng rng(7);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) hits += rng.chance(0.25) ? 1 : 0;
  EXPECT_NEAR(hits, 2500, 200);
  EXPECT_FALSE(rng.chance(0));
  EXPECT_TRUE(rng.chance(1));
}

TEST(Rng, SystemSeedsDiffer) {
  Rng a = Rng::from_system();
  Rng b = Rng::from_system();
  EXPECT_NE(a.next(), b.next());
}

TEST(MakeUid, IsAVersion4Uuid) {
  Rng rng(1);
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string uid = make_uid(rng);
    EXPECT_THAT(uid, testing::MatchesRegex(
                         "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(seen.insert(uid).second);
  }
}

TEST(MakeNameSuffix, HasFiveLettersOfTheAlphabet) {
  Rng rng(1);
  for (int i = 0; i < 200; ++i)
    EXPECT_THAT(make_name_suffix(rng), testing::MatchesRegex("[bcdfghjklmnpqrstvwxz2456789]{5}"));
}

}  // namespace rng_test
}  // namespace muster
