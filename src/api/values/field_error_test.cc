#include "api/values/field_error.h"

#include <gmock/gmock.h>

#include "api/schema/registry.h"
#include "json/parse.h"

namespace muster::api {
namespace field_error_test {

using testing::ElementsAre;
using testing::Field;

TEST(Path, GrowsLikeUpstreams) {
  const Path containers = Path("spec").child("containers");
  EXPECT_EQ(containers.index(0).child("ports").index(1).child("name").text(),
            "spec.containers[0].ports[1].name");
  EXPECT_EQ(Path("resources").child("requests").key("memory").text(), "resources.requests[memory]");
  EXPECT_EQ(Path().child("spec").text(), "spec");
  EXPECT_EQ(Path().key("").text(), "[]");
}

TEST(Quote, TextIsQuotedAsGoDoes) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"plain", R"("plain")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"tab\tline\nbell\a", R"("tab\tline\nbell\a")"},
      {std::string("nul\0", 4), R"("nul\x00")"},
      {"é漢", R"("é漢")"},
      {"\xC2\xA0\xE2\x80\x8B", R"("\u00a0\u200b")"},
      {"\xF3\xA0\x80\x81", R"("\U000e0001")"},
      {"bad\xFF", R"("bad\xff")"},
  };
  for (const auto& [text, quoted] : cases) EXPECT_EQ(quote(text), quoted);
}

TEST(Quote, ValuesAreBareOrCompactJson) {
  json::Arena arena;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"7", "7"},
      {"-1", "-1"},
      {"true", "true"},
      {"null", "null"},
      {"1.5", "1.5"},
      {"1e6", "1e+06"},
      {"100000.0", "100000"},
      {"0.0001", "0.0001"},
      {"0.00001", "1e-05"},
      {"2.5e7", "2.5e+07"},
      {R"("x")", R"("x")"},
      {R"({"a": [1, 2]})", R"({"a":[1,2]})"},
  };
  for (const auto& [text, quoted] : cases) {
    const auto value = json::parse(arena, text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(quote(*value), quoted);
  }
}

TEST(FieldErrors, BodiesAreUpstreams) {
  FieldErrors errors;
  const Path path("spec.x");
  const std::array<std::string_view, 2> supported{"a", "b"};
  errors.required(path);
  errors.required(path, "must be set");
  errors.invalid(path, json::Value::of(0), "must be positive");
  errors.invalid(path, "Q", "is wrong");
  errors.type_invalid(path, json::Value::view("integer"), "must be a string");
  errors.not_supported(path, "c", supported);
  errors.duplicate(path, "twice");
  errors.duplicate(path, json::Value::of(80));
  errors.not_found(path, "nobody");
  errors.forbidden(path, "not now");
  errors.too_long(path, 10);
  errors.too_long(path, 1);
  errors.too_many(path, 3, 2);
  errors.too_many(path, 2, 1);
  const auto cause = [&](const char* reason, const char* message) {
    return testing::AllOf(Field(&Cause::reason, reason), Field(&Cause::message, message),
                          Field(&Cause::field, "spec.x"));
  };
  EXPECT_THAT(
      errors.causes(),
      ElementsAre(
          cause("FieldValueRequired", "Required value"),
          cause("FieldValueRequired", "Required value: must be set"),
          cause("FieldValueInvalid", "Invalid value: 0: must be positive"),
          cause("FieldValueInvalid", R"(Invalid value: "Q": is wrong)"),
          cause("FieldValueTypeInvalid", R"(Invalid value: "integer": must be a string)"),
          cause("FieldValueNotSupported", R"(Unsupported value: "c": supported values: "a", "b")"),
          cause("FieldValueDuplicate", R"(Duplicate value: "twice")"),
          cause("FieldValueDuplicate", "Duplicate value: 80"),
          cause("FieldValueNotFound", R"(Not found: "nobody")"),
          cause("FieldValueForbidden", "Forbidden: not now"),
          cause("FieldValueTooLong", "Too long: may not be more than 10 bytes"),
          cause("FieldValueTooLong", "Too long: may not be more than 1 byte"),
          cause("FieldValueTooMany", "Too many: 3: must have at most 2 items"),
          cause("FieldValueTooMany", "Too many: 2: must have at most 1 item")));
}

TEST(FieldErrors, TheObjectItselfHasNoPath) {
  FieldErrors errors;
  errors.required(Path());
  EXPECT_EQ(errors.causes().at(0).field, "<nil>");
}

TEST(FieldErrors, OneFaultStandsBare) {
  FieldErrors errors;
  errors.required(Path("spec.template"));
  const Error error = errors.to_error("Job.batch", "batch", "Job", "j");
  EXPECT_EQ(error.code, Code::kInvalid);
  EXPECT_EQ(error.message, R"(Job.batch "j" is invalid: spec.template: Required value)");
  EXPECT_EQ(error.name, "j");
  EXPECT_EQ(error.group, "batch");
  EXPECT_EQ(error.kind, "Job");
}

TEST(FieldErrors, EqualTextsAreSaidOnceButAllAreCauses) {
  FieldErrors errors;
  errors.required(Path("a"));
  FieldErrors more;
  more.required(Path("a"));
  more.required(Path("b"));
  errors.append(std::move(more));
  const Resource pods{.gvk = {"", "v1", "Pod"}, .plural = "pods"};
  const Error error = errors.to_error(pods, "p");
  EXPECT_EQ(error.message, R"(Pod "p" is invalid: [a: Required value, b: Required value])");
  EXPECT_EQ(error.causes.size(), 3U);
}

}  // namespace field_error_test
}  // namespace muster::api
