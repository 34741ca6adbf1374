#include <gmock/gmock.h>

#include "fields/managed_fields.h"

namespace muster::fields {
namespace {

TEST(ManagerName, IsTheParameterIfGiven) {
  EXPECT_EQ(*manager_name("mine", "kubectl/v1.36"), "mine");
  EXPECT_EQ(*manager_name("größe", ""), "größe");
  EXPECT_EQ(*manager_name(std::string(128, 'x'), ""), std::string(128, 'x'));
}

TEST(ManagerName, ComesElseFromTheUserAgent) {
  EXPECT_EQ(*manager_name("", "kubectl/v1.36 (linux/amd64)"), "kubectl");
  EXPECT_EQ(*manager_name("", "curl"), "curl");
  EXPECT_EQ(*manager_name("", "a\x07 b\tc/1"), "a bc") << "what cannot be printed is dropped";
  EXPECT_EQ(*manager_name("", std::string(200, 'x')), std::string(128, 'x'));
  const std::string nearly_full(127, 'x');
  EXPECT_EQ(*manager_name("", fmt::format("{}ü", nearly_full)), nearly_full)
      << "never half a character";
  EXPECT_EQ(*manager_name("", "\xff/1"), "\uFFFD");
}

TEST(ManagerName, IsElseUnknown) {
  EXPECT_EQ(*manager_name("", ""), "unknown");
  EXPECT_EQ(*manager_name("", "/1.0"), "unknown");
}

TEST(ManagerName, RefusesBadParameters) {
  const Result<std::string> bell = manager_name(
      "ab\x07"
      "c",
      "");
  ASSERT_FALSE(bell.has_value());
  EXPECT_EQ(bell.error().code, Code::kInvalid);
  ASSERT_EQ(bell.error().causes.size(), 1U);
  EXPECT_EQ(bell.error().causes[0].field, "fieldManager");
  EXPECT_EQ(bell.error().causes[0].message,
            R"(Invalid value: "ab\ac": invalid character U+0007 (at position 2))");
  const Result<std::string> longer = manager_name(std::string(129, 'x'), "");
  ASSERT_FALSE(longer.has_value());
  EXPECT_THAT(longer.error().causes[0].message,
              testing::HasSubstr("may not be more than 128 bytes"));
}

}  // namespace
}  // namespace muster::fields
