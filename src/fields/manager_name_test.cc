#include <gmock/gmock.h>

#include "fields/managed_fields.h"

namespace muster::fields {
namespace manager_name_test {

TEST(ManagerName, IsTheParameterIfGiven) {
  EXPECT_EQ(manager_name("mine", "kubectl/v1.36"), "mine");
  EXPECT_EQ(manager_name("größe", ""), "größe");
  EXPECT_EQ(manager_name(std::string(128, 'x'), ""), std::string(128, 'x'));
}

TEST(ManagerName, ComesElseFromTheUserAgent) {
  EXPECT_EQ(manager_name("", "kubectl/v1.36 (linux/amd64)"), "kubectl");
  EXPECT_EQ(manager_name("", "curl"), "curl");
  EXPECT_EQ(manager_name("", "a\x07 b\tc/1"), "a bc") << "what cannot be printed is dropped";
  EXPECT_EQ(manager_name("", std::string(200, 'x')), std::string(128, 'x'));
  const std::string nearly_full(127, 'x');
  EXPECT_EQ(manager_name("", fmt::format("{}ü", nearly_full)), nearly_full)
      << "never half a character";
  EXPECT_EQ(manager_name("", "\xff/1"), "\uFFFD");
}

TEST(ManagerName, IsElseUnknown) {
  EXPECT_EQ(manager_name("", ""), "unknown");
  EXPECT_EQ(manager_name("", "/1.0"), "unknown");
}

TEST(ValidateManager, SaysWhatIsWrong) {
  const auto faults = [](std::string_view parameter) {
    api::FieldErrors errors;
    validate_manager(parameter, errors);
    std::vector<std::string> texts;
    for (const Cause& cause : errors.causes()) texts.push_back(cause.field + ": " + cause.message);
    return texts;
  };
  EXPECT_THAT(faults(""), testing::IsEmpty());
  EXPECT_THAT(faults("größe"), testing::IsEmpty());
  EXPECT_THAT(faults(std::string(128, 'x')), testing::IsEmpty());
  EXPECT_THAT(faults(std::string(129, 'x')),
              testing::ElementsAre(testing::HasSubstr("may not be more than 128 bytes")));
  EXPECT_THAT(
      faults("ab\x07\u2028"),
      testing::ElementsAre(
          R"(fieldManager: Invalid value: "ab\a\u2028": invalid character U+0007 (at position 2))",
          R"(fieldManager: Invalid value: "ab\a\u2028": invalid character U+2028 (at position 3))"));
}

}  // namespace manager_name_test
}  // namespace muster::fields
