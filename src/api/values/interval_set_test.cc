#include "api/values/interval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::api {
namespace interval_set_test {

using ::testing::ElementsAre;

constexpr std::int64_t kMany = 1'000;

IntervalSet set(std::string_view text) { return IntervalSet::parse(text, kMany); }

TEST(IntervalSet, IsWrittenAsStatusesAre) {
  EXPECT_EQ(IntervalSet::of({}).text(), "");
  EXPECT_EQ(IntervalSet::of({3}).text(), "3");
  EXPECT_EQ(IntervalSet::of({4, 3}).text(), "3,4");
  EXPECT_EQ(IntervalSet::of({3, 4, 5}).text(), "3-5");
  EXPECT_EQ(IntervalSet::of({9, 7, 1, 2, 3, 7, 5, 4}).text(), "1-5,7,9");
}

TEST(IntervalSet, JoinsWithoutGapsOrRepetitions) {
  struct Row {
    std::string_view name, a, b, joined;
  };
  const std::vector<Row> rows = {
      {"nothing with nothing", "", "", ""},
      {"first", "", "1,2", "1,2"},
      {"between", "0-2,8-9", "4-6", "0-2,4-6,8,9"},
      {"within", "0-9", "3-5", "0-9"},
      {"adjacent before", "4-6", "2,3", "2-6"},
      {"adjacent after", "2,3", "4-6", "2-6"},
      {"fills the gap", "0-2,4-6", "3", "0-6"},
      {"overlaps at both ends", "2-5", "0-3,5-8", "0-8"},
      {"separate", "0", "2,4", "0,2,4"},
      {"swallows several", "1,3,5", "0-9", "0-9"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(set(row.a).joined_with(set(row.b)).text(), row.joined) << row.name;
    EXPECT_EQ(set(row.b).joined_with(set(row.a)).text(), row.joined) << row.name;
  }
}

TEST(IntervalSet, ReadsWhatItCanAndStopsAtTheEnd) {
  struct Row {
    std::string_view name, text;
    std::int64_t completions;
    std::string_view read;
  };
  const std::vector<Row> rows = {
      {"empty", "", 10, ""},
      {"sound", "0,2-4,7", 10, "0,2-4,7"},
      {"adjacent parts are joined", "0,1,2", 10, "0-2"},
      {"broken parts are left out", "0,x,2-y,-,3,4-5-6", 10, "0,3"},
      {"the end is cut", "0,2-9", 5, "0,2-4"},
      {"what lies behind is left out", "0,5,6-9", 5, "0"},
      {"cut to one", "3-9", 4, "3"},
      {"none left", "0-9", 0, ""},
  };
  for (const Row& row : rows)
    EXPECT_EQ(IntervalSet::parse(row.text, row.completions).text(), row.read) << row.name;
}

TEST(IntervalSet, KnowsItsMembers) {
  const IntervalSet some = set("1,3-5,7");
  std::vector<int> members;
  for (int i = -1; i < 10; ++i) {
    if (some.contains(i)) members.push_back(i);
  }
  EXPECT_THAT(members, ElementsAre(1, 3, 4, 5, 7));
  EXPECT_EQ(some.size(), 5);
  EXPECT_FALSE(set("").contains(0));
}

TEST(IntervalSet, CountsWhatTwoHaveInCommon) {
  EXPECT_EQ(set("").common(set("0-9")), 0);
  EXPECT_EQ(set("0-9").common(set("0-9")), 10);
  EXPECT_EQ(set("0-3,6,8-9").common(set("2-6,9,11")), 4);
  EXPECT_EQ(set("0,2,4").common(set("1,3,5")), 0);
}

TEST(IntervalSet, FindsTheFirstIndexesThatAreFree) {
  struct Row {
    std::string_view name, taken;
    std::size_t count;
    std::int64_t completions;
    std::vector<std::int64_t> free;
  };
  const std::vector<Row> rows = {
      {"fewer wanted than there are", "", 2, 5, {0, 1}},
      {"more wanted than there are", "", 9, 3, {0, 1, 2}},
      {"around the taken ones", "0,2-4", 4, 9, {1, 5, 6, 7}},
      {"only behind", "0-7", 3, 9, {8}},
      {"none", "0-8", 3, 9, {}},
      {"none wanted", "", 0, 9, {}},
      {"enough before the taken ones", "5-7", 2, 9, {0, 1}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(set(row.taken).first_absent(row.count, row.completions), row.free) << row.name;
}

struct StrictRow {
  const char* text;
  std::int64_t count;
  const char* fault;
};

class Indexes : public ::testing::TestWithParam<StrictRow> {};

TEST_P(Indexes, AreReadOrRefused) {
  const auto parsed = IntervalSet::parse_strictly(GetParam().text, 10);
  if (*GetParam().fault == '\0') {
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(parsed->size(), GetParam().count);
  } else {
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error(), GetParam().fault);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Indexes,
    ::testing::Values(StrictRow{"", 0, ""}, StrictRow{"3", 1, ""}, StrictRow{"0-9", 10, ""},
                      StrictRow{"0,2-4,9", 5, ""}, StrictRow{"10", 0, "too large index: \"10\""},
                      StrictRow{"1-10", 0, "too large index: \"10\""},
                      StrictRow{"3-1", 0, "non-increasing order, previous: 3, current: 1"},
                      StrictRow{"3-3", 0, "non-increasing order, previous: 3, current: 3"},
                      StrictRow{"1,1", 0, "non-increasing order, previous: 1, current: 1"},
                      StrictRow{"2-4,4", 0, "non-increasing order, previous: 4, current: 4"},
                      StrictRow{"a", 0, "cannot convert string to integer for index: \"a\""},
                      StrictRow{"1,", 0, "cannot convert string to integer for index: \"\""},
                      StrictRow{"-1", 0, "cannot convert string to integer for index: \"\""},
                      StrictRow{
                          "1-2-3", 0,
                          "the fragment \"1-2-3\" violates the requirement that an index interval "
                          "can have at most "
                          "two parts separated by '-'"}));

TEST(CommonIndexes, AreFoundInAnyPlace) {
  const auto common = [](std::string_view a, std::string_view b) {
    return IntervalSet::parse_strictly(a, 100).value().first_common(
        IntervalSet::parse_strictly(b, 100).value());
  };
  EXPECT_EQ(common("0-3", "4-7"), std::nullopt);
  EXPECT_EQ(common("0-3,8", "4-7,9"), std::nullopt);
  EXPECT_EQ(common("0-3", "3"), 3);
  EXPECT_EQ(common("1,5-9", "0,7-8"), 7);
  EXPECT_EQ(common("", "0"), std::nullopt);
}

}  // namespace interval_set_test
}  // namespace muster::api
