#include "admission/job/job_indexes.h"

#include <gtest/gtest.h>

namespace muster::admission {
namespace job_indexes_test {

struct Row {
  const char* text;
  std::int64_t count;
  const char* fault;
};

class Indexes : public testing::TestWithParam<Row> {};

TEST_P(Indexes, AreReadOrRefused) {
  const auto parsed = parse_indexes(GetParam().text, 10);
  if (*GetParam().fault == '\0') {
    ASSERT_TRUE(parsed) << parsed.error();
    EXPECT_EQ(count_indexes(*parsed), GetParam().count);
  } else {
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error(), GetParam().fault);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Indexes,
    testing::Values(Row{"", 0, ""}, Row{"3", 1, ""}, Row{"0-9", 10, ""}, Row{"0,2-4,9", 5, ""},
                    Row{"10", 0, "too large index: \"10\""},
                    Row{"1-10", 0, "too large index: \"10\""},
                    Row{"3-1", 0, "non-increasing order, previous: 3, current: 1"},
                    Row{"3-3", 0, "non-increasing order, previous: 3, current: 3"},
                    Row{"1,1", 0, "non-increasing order, previous: 1, current: 1"},
                    Row{"2-4,4", 0, "non-increasing order, previous: 4, current: 4"},
                    Row{"a", 0, "cannot convert string to integer for index: \"a\""},
                    Row{"1,", 0, "cannot convert string to integer for index: \"\""},
                    Row{"-1", 0, "cannot convert string to integer for index: \"\""},
                    Row{"1-2-3", 0,
                        "the fragment \"1-2-3\" violates the requirement that an index interval "
                        "can have at most "
                        "two parts separated by '-'"}));

TEST(CommonIndexes, AreFoundInAnyPlace) {
  const auto common = [](std::string_view a, std::string_view b) {
    return first_common_index(parse_indexes(a, 100).value(), parse_indexes(b, 100).value());
  };
  EXPECT_EQ(common("0-3", "4-7"), std::nullopt);
  EXPECT_EQ(common("0-3,8", "4-7,9"), std::nullopt);
  EXPECT_EQ(common("0-3", "3"), 3);
  EXPECT_EQ(common("1,5-9", "0,7-8"), 7);
  EXPECT_EQ(common("", "0"), std::nullopt);
}

}  // namespace job_indexes_test
}  // namespace muster::admission
