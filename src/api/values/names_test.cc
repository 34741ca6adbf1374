#include "api/values/names.h"

#include <gmock/gmock.h>

#include "json/parse.h"

namespace muster::api {
namespace names_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation "
    "is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation "
    "is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

std::string of_length(std::size_t length) { return std::string(length, 'a'); }

TEST(Names, Subdomain) {
  for (const auto* valid : {"a", "a.b", "0-0", "example.com", "1.2.3"}) {
    EXPECT_THAT(check_dns1123_subdomain(valid), IsEmpty()) << valid;
  }
  EXPECT_THAT(check_dns1123_subdomain(of_length(253)), IsEmpty());
  for (const auto* invalid : {"", "A", "-a", "a-", "a..b", ".a", "a.", "a_b", "a b"}) {
    EXPECT_THAT(check_dns1123_subdomain(invalid), ElementsAre(kSubdomain)) << invalid;
  }
  EXPECT_THAT(check_dns1123_subdomain(of_length(254)),
              ElementsAre("must be no more than 253 characters"));
}

TEST(Names, Label) {
  for (const auto* valid : {"a", "123-abc"})
    EXPECT_THAT(check_dns1123_label(valid), IsEmpty()) << valid;
  EXPECT_THAT(check_dns1123_label("a.b"), ElementsAre("must not contain dots"));
  for (const auto* invalid : {"", "A", "-", "a.", "a_b"}) {
    EXPECT_THAT(check_dns1123_label(invalid), ElementsAre(kLabel)) << invalid;
  }
  EXPECT_THAT(check_dns1123_label(of_length(64)),
              ElementsAre("must be no more than 63 characters"));
}

TEST(Names, Dns1035LabelStartsWithALetter) {
  EXPECT_THAT(check_dns1035_label("abc-123"), IsEmpty());
  for (const auto* invalid : {"", "1a", "a.b", "a-"}) {
    EXPECT_THAT(check_dns1035_label(invalid),
                ElementsAre(HasSubstr("a DNS-1035 label must consist of")))
        << invalid;
  }
}

TEST(Names, LabelKey) {
  for (const auto* valid : {"a", "A.b_c", "example.com/MyName", "1/1"}) {
    EXPECT_THAT(check_qualified_name(valid), IsEmpty()) << valid;
  }
  EXPECT_THAT(check_qualified_name(""), ElementsAre("name part must be non-empty", kNamePart));
  EXPECT_THAT(check_qualified_name("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(check_qualified_name("Example.com/a"),
              ElementsAre(std::string("prefix part ") + kSubdomain));
  EXPECT_THAT(check_qualified_name("a/"), ElementsAre("name part must be non-empty", kNamePart));
  EXPECT_THAT(check_qualified_name("-a"), ElementsAre(kNamePart));
  EXPECT_THAT(check_qualified_name(of_length(64)),
              ElementsAre("name part must be no more than 63 bytes"));
  EXPECT_THAT(check_qualified_name(of_length(254) + "/a"),
              ElementsAre("prefix part must be no more than 253 bytes"));
  EXPECT_THAT(
      check_qualified_name("a/b/c"),
      ElementsAre("a valid label key " + std::string(kNamePart).substr(10) +
                  " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
}

TEST(Names, LabelValue) {
  for (const auto* valid : {"", "a", "A_b.c-1"})
    EXPECT_THAT(check_label_value(valid), IsEmpty()) << valid;
  for (const auto* invalid : {"%%", "-b", "b.", "a/b"}) {
    EXPECT_THAT(check_label_value(invalid), ElementsAre(kLabelValue)) << invalid;
  }
  EXPECT_THAT(check_label_value(of_length(64)), ElementsAre("must be no more than 63 bytes"));
}

TEST(Names, ConfigKey) {
  for (const auto* valid : {"a", "KEY_NAME", ".hidden", "a..b", "-"}) {
    EXPECT_THAT(check_config_key(valid), IsEmpty()) << valid;
  }
  EXPECT_THAT(check_config_key("."), ElementsAre("must not be '.'"));
  EXPECT_THAT(check_config_key(".."), ElementsAre("must not be '..'"));
  EXPECT_THAT(check_config_key("..a"), ElementsAre("must not start with '..'"));
  for (const auto* invalid : {"", "a/b", "a b"}) {
    EXPECT_THAT(
        check_config_key(invalid),
        ElementsAre(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
            "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            "'[-._a-zA-Z0-9]+')"))
        << invalid;
  }
}

TEST(Names, PortNameSaysEachFaultByItself) {
  EXPECT_THAT(check_port_name("http"), IsEmpty());
  EXPECT_THAT(check_port_name("8080"), ElementsAre("must contain at least one letter (a-z)"));
  EXPECT_THAT(check_port_name("-a--b"), ElementsAre("must not contain consecutive hyphens",
                                                    "must not begin or end with a hyphen"));
  EXPECT_THAT(check_port_name("HTTP"),
              ElementsAre("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                          "must contain at least one letter (a-z)"));
  EXPECT_THAT(check_port_name(of_length(16)), ElementsAre("must be no more than 15 characters"));
}

TEST(Names, EnvNameIsPrintableAscii) {
  for (const auto* valid : {"A", "my var", "1", "a-b.c"})
    EXPECT_THAT(check_env_name(valid), IsEmpty()) << valid;
  EXPECT_THAT(check_env_name(""), ElementsAre("environment variable name must be non-empty"));
  for (const auto* invalid : {"a=b", "a\tb", "é"}) {
    EXPECT_THAT(
        check_env_name(invalid),
        ElementsAre(
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"))
        << invalid;
  }
}

TEST(Names, PathSegment) {
  for (const auto* valid : {"system:node", "...", "A b"})
    EXPECT_THAT(check_path_segment(valid), IsEmpty()) << valid;
  EXPECT_THAT(check_path_segment(".."), ElementsAre("may not be '..'"));
  EXPECT_THAT(check_path_segment("a/b%"),
              ElementsAre("may not contain '/'", "may not contain '%'"));
}

TEST(Names, LabelsAreReportedOnTheMap) {
  json::Arena arena;
  FieldErrors errors;
  validate_labels(*json::parse(arena, R"({"x~y":"1","ok":"-v"})"), Path("metadata.labels"), errors);
  ASSERT_EQ(errors.causes().size(), 2U);
  EXPECT_EQ(errors.causes()[0].field, "metadata.labels");
  EXPECT_EQ(errors.causes()[0].message, std::string("Invalid value: \"x~y\": ") + kNamePart);
  EXPECT_EQ(errors.causes()[1].message, std::string("Invalid value: \"-v\": ") + kLabelValue);
}

TEST(Names, AnnotationKeysMayBeUpperCaseAndTheSumIsLimited) {
  json::Arena arena;
  FieldErrors errors;
  const auto annotations = json::Value::object(arena);
  annotations.set("Example.COM/a", std::string(262144 - 13, 'v'));
  validate_annotations(annotations, Path("metadata.annotations"), errors);
  EXPECT_TRUE(errors.empty());
  annotations.set("b", "");
  validate_annotations(annotations, Path("metadata.annotations"), errors);
  ASSERT_EQ(errors.causes().size(), 1U);
  EXPECT_EQ(errors.causes()[0].message, "Too long: may not be more than 262144 bytes");
}

}  // namespace names_test
}  // namespace muster::api
