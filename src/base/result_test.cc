#include "base/result.h"

#include <gtest/gtest.h>

namespace muster {
namespace result_test {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Code::kInvalid, "odd");
  return number / 2;
}

Status check_small(int number) {
  if (number > 100) return fail(Code::kTooLarge, "too large");
  return {};
}

Result<int> quarter(int number) {
  MUSTER_CHECK(check_small(number));
  MUSTER_TRY(const int once, half(number));
  MUSTER_TRY(const int twice, half(once));
  return twice;
}

TEST(Result, TryBindsTheValue) { EXPECT_EQ(quarter(8), 2); }

TEST(Result, TryReturnsTheFirstError) {
  const auto failed = quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kInvalid);
  EXPECT_EQ(failed.error().message, "odd");
}

TEST(Result, CheckReturnsTheErrorOfAStatus) {
  const auto failed = quarter(104);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kTooLarge);
}

TEST(ResultDeathTest, AssertionNamesItsReason) {
  EXPECT_DEATH(MUSTER_ASSERT(1 > 2, "numbers are broken"), "1 > 2: numbers are broken");
}

}  // namespace result_test
}  // namespace muster
