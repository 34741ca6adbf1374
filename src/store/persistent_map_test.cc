#include "store/persistent_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"

namespace muster::store {
namespace persistent_map_test {

using ::testing::ElementsAre;

struct Entry {
  std::string key;
  std::uint64_t value = 0;
};
using EntryPtr = std::shared_ptr<const Entry>;
struct KeyOfEntry {
  std::string_view operator()(const EntryPtr& entry) const { return entry->key; }
};
using Map = PersistentMap<EntryPtr, KeyOfEntry>;
using Model = std::map<std::string, std::uint64_t, std::less<>>;

EntryPtr entry(std::string key, std::uint64_t value) {
  return std::make_shared<const Entry>(std::move(key), value);
}

std::vector<std::string> keys_from(const Map& map, std::string_view from,
                                   std::size_t most = 1'000'000) {
  std::vector<std::string> keys;
  map.visit_from(from, [&](const EntryPtr& e) {
    keys.push_back(e->key);
    return keys.size() < most;
  });
  return keys;
}

Model contents(const Map& map) {
  Model model;
  map.visit_from("", [&](const EntryPtr& e) { return model.emplace(e->key, e->value), true; });
  return model;
}

TEST(PersistentMap, StartsEmpty) {
  const Map map;
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.find("a"), nullptr);
  EXPECT_EQ(map.rank("a"), 0u);
  EXPECT_THAT(keys_from(map, ""), ElementsAre());
}

TEST(PersistentMap, KeepsTheOrderOfKeys) {
  Map map;
  for (const char* key : {"b/2", "a/1", "c", "b/1"}) map.put(entry(key, 0));
  EXPECT_THAT(keys_from(map, ""), ElementsAre("a/1", "b/1", "b/2", "c"));
  EXPECT_THAT(keys_from(map, "b/"), ElementsAre("b/1", "b/2", "c"));
  EXPECT_THAT(keys_from(map, "b/1"), ElementsAre("b/1", "b/2", "c"));
  EXPECT_THAT(keys_from(map, "b/", 1), ElementsAre("b/1"));
  EXPECT_EQ(map.rank("b0") - map.rank("b/"), 2u);
}

TEST(PersistentMap, ReplacesTheValueOfAKey) {
  Map map;
  map.put(entry("a", 1));
  map.put(entry("a", 2));
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ((*map.find("a"))->value, 2u);
}

TEST(PersistentMap, ACopyIsNotTouchedByLaterChanges) {
  Map map;
  map.put(entry("a", 1));
  map.put(entry("b", 1));
  const Map before = map;
  map.put(entry("a", 2));
  EXPECT_TRUE(map.erase("b"));
  EXPECT_FALSE(map.erase("b"));
  EXPECT_EQ(contents(before), (Model{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(contents(map), (Model{{"a", 2}}));
}

TEST(PersistentMap, ReleasesValuesWithTheLastVersionThatHoldsThem) {
  auto first = entry("a", 1);
  Map map;
  map.put(first);
  {
    const Map before = map;
    map.put(entry("a", 2));
    EXPECT_EQ(first.use_count(), 2);
  }
  EXPECT_EQ(first.use_count(), 1);
}

TEST(PersistentMap, StaysBalancedWhenKeysComeInOrder) {
  Map map;
  for (int i = 0; i < 5'000; ++i) map.put(entry(std::to_string(100'000 + i), 0));
  EXPECT_TRUE(map.sound());
  for (int i = 0; i < 4'000; ++i) map.erase(std::to_string(100'000 + i));
  EXPECT_TRUE(map.sound());
  EXPECT_EQ(map.size(), 1'000u);
}

// Random changes, compared with std::map after each; random versions are kept and compared at the
// end.
class PersistentMapAgainstModel : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PersistentMapAgainstModel, AllVersionsAgree) {
  Rng rng(GetParam());
  const std::uint64_t key_space = 1 + rng.below(300);
  Map map;
  Model model;
  std::vector<std::pair<Map, Model>> versions;
  for (std::uint64_t step = 0; step < 2'000; ++step) {
    const std::string key = std::to_string(rng.below(key_space));
    if (rng.chance(0.55)) {
      map.put(entry(key, step));
      model.insert_or_assign(key, step);
    } else {
      ASSERT_EQ(map.erase(key), model.erase(key) == 1);
    }
    ASSERT_EQ(map.size(), model.size());
    const std::string probe = std::to_string(rng.below(key_space));
    const auto expected = model.find(probe);
    const EntryPtr* found = map.find(probe);
    ASSERT_EQ(found != nullptr, expected != model.end());
    if (found != nullptr) {
      ASSERT_EQ((*found)->value, expected->second);
    }
    ASSERT_EQ(map.rank(probe),
              static_cast<std::size_t>(std::distance(model.begin(), model.lower_bound(probe))));
    if (rng.chance(0.02)) versions.emplace_back(map, model);
    if (!versions.empty() && rng.chance(0.01)) versions.erase(versions.begin());
  }
  versions.emplace_back(map, model);
  for (const auto& [kept, expected] : versions) {
    ASSERT_TRUE(kept.sound());
    ASSERT_EQ(contents(kept), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PersistentMapAgainstModel, ::testing::Range<std::uint64_t>(0, 40));

}  // namespace persistent_map_test
}  // namespace muster::store
