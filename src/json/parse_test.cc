#include "json/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/go_reader.h"
#include "json/testing.h"
#include "json/write.h"

namespace muster::json {
namespace parse_test {

using testing::ElementsAre;

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

// Reads with the fast reader and the Go reader, which must agree, and writes the tree or the error.
std::string outcome(std::string_view text) {
  Arena arena;
  const auto show = [](const Result<Value>& result) {
    return result ? write(*result) : "error: " + result.error().message;
  };
  const std::string fast = show(parse(arena, text));
  EXPECT_EQ(fast, show(parse_like_go(arena, text))) << text;
  EXPECT_EQ(is_json(text), !fast.starts_with("error: ")) << text;
  return fast;
}

TEST(Parse, ReadsValues) {
  const struct {
    const char* text;
    const char* written;
  } rows[] = {
      {"null", "null"},
      {" true ", "true"},
      {"\t[1,\n2 ]\r\n", "[1,2]"},
      {"{}", "{}"},
      {"[]", "[]"},
      {R"("")", R"("")"},
      {R"({"a":{"b":[{"c":"d"}]},"e":false})", R"({"a":{"b":[{"c":"d"}]},"e":false})"},
      {R"("\u0041\n\"\\\/\u00e9\ud83d\ude00")", R"("A\n\"\\/é😀")"},
      {"\"\xc3\xa9\"", "\"\xc3\xa9\""},
      {R"("a\u0000b")", R"("a\u0000b")"},
  };
  for (const auto& row : rows) EXPECT_EQ(outcome(row.text), row.written);
}

TEST(Parse, NumbersKeepTheNarrowestKind) {
  const struct {
    const char* text;
    Kind kind;
    const char* written;
  } rows[] = {
      {"0", Kind::kInt, "0"},
      {"-0", Kind::kInt, "0"},
      {"9223372036854775807", Kind::kInt, "9223372036854775807"},
      {"-9223372036854775808", Kind::kInt, "-9223372036854775808"},
      {"9223372036854775808", Kind::kUint, "9223372036854775808"},
      {"18446744073709551615", Kind::kUint, "18446744073709551615"},
      {"18446744073709551616", Kind::kDouble, "18446744073709552000"},
      {"-9223372036854775809", Kind::kDouble, "-9223372036854776000"},
      {"123456789012345678901234567890", Kind::kDouble, "1.2345678901234568e+29"},
      {"-0e5", Kind::kDouble, "0"},
      {"1.0", Kind::kDouble, "1"},
      {"1e3", Kind::kDouble, "1000"},
      {"1.5E-7", Kind::kDouble, "1.5e-7"},
      {"1e-400", Kind::kDouble, "0"},
      {"5e-324", Kind::kDouble, "5e-324"},
  };
  for (const auto& row : rows) {
    Arena arena;
    const auto value = parse(arena, row.text);
    ASSERT_TRUE(value) << row.text;
    EXPECT_EQ(value->kind(), row.kind) << row.text;
    EXPECT_EQ(outcome(row.text), row.written);
  }
}

TEST(Parse, LoneSurrogatesBecomeTheReplacementCharacter) {
  EXPECT_EQ(outcome(R"("a\ud800b")"), "\"a\uFFFDb\"");
  EXPECT_EQ(outcome(R"("\udc00\ud800\u0041")"), "\"\uFFFD\uFFFDA\"");
  EXPECT_EQ(outcome(R"("\ud800\ud83d\ude00")"), "\"\uFFFD😀\"");
}

TEST(Parse, ErrorsAreInTheWordsOfGo) {
  const struct {
    std::string_view text;
    const char* message;
  } rows[] = {
      {"", "unexpected end of JSON input"},
      {"  ", "unexpected end of JSON input"},
      {"{", "unexpected end of JSON input"},
      {R"({"a")", "unexpected end of JSON input"},
      {R"({"a":)", "unexpected end of JSON input"},
      {R"({"a":1)", "unexpected end of JSON input"},
      {R"({"a":1,)", "unexpected end of JSON input"},
      {"[1", "unexpected end of JSON input"},
      {R"("abc)", "unexpected end of JSON input"},
      {R"("abc\)", "unexpected end of JSON input"},
      {R"("abc\u00)", "unexpected end of JSON input"},
      {"tru", "unexpected end of JSON input"},
      {"-", "unexpected end of JSON input"},
      {"1.", "unexpected end of JSON input"},
      {"1e", "unexpected end of JSON input"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {"<html>", "invalid character '<' looking for beginning of value"},
      {"'a'", R"(invalid character '\'' looking for beginning of value)"},
      {"\\", R"(invalid character '\\' looking for beginning of value)"},
      {std::string_view("\0", 1), R"(invalid character '\x00' looking for beginning of value)"},
      {"\xc3\xa9", "invalid character 'Ã' looking for beginning of value"},
      {"+1", "invalid character '+' looking for beginning of value"},
      {"[,]", "invalid character ',' looking for beginning of value"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"01", "invalid character '1' after top-level value"},
      {"{a:1}", "invalid character 'a' looking for beginning of object key string"},
      {R"({"a":1,})", "invalid character '}' looking for beginning of object key string"},
      {R"({"a" 1})", "invalid character '1' after object key"},
      {R"({"a":1 "b":2})", "invalid character '\"' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1}", "invalid character '}' after array element"},
      {"[true,fals]", "invalid character ']' in literal false (expecting 'e')"},
      {"nil", "invalid character 'i' in literal null (expecting 'u')"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1ex", "invalid character 'x' in exponent of numeric literal"},
      {"\"a\nb\"", R"(invalid character '\n' in string literal)"},
      {R"("\x")", "invalid character 'x' in string escape code"},
      {R"("\u00g0")", R"(invalid character 'g' in \u hexadecimal character escape)"},
      {"\"a\xff\"", "invalid UTF-8 in string literal"},
      {"[1e400]", "json: cannot unmarshal number 1e400 into Go value of type float64"},
      {"[1e400", "unexpected end of JSON input"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(outcome(row.text), std::string("error: ") + row.message) << row.text;
    Arena arena;
    EXPECT_EQ(parse(arena, row.text).error().code, Code::kBadRequest);
  }
}

TEST(Parse, NestingHasALimit) {
  EXPECT_EQ(outcome(nested(kMaxDepth)), nested(kMaxDepth));
  EXPECT_EQ(outcome(nested(kMaxDepth + 1)), "error: exceeded max depth");
  EXPECT_EQ(outcome(nested(100'000)), "error: exceeded max depth");
  std::string deepest = nested(kMaxDepth);
  deepest.insert(kMaxDepth, "1");
  EXPECT_EQ(outcome(deepest), deepest);
}

TEST(Parse, LaterDuplicateWinsAtThePlaceOfTheFirst) {
  const char* const text =
      R"({"spec":{"containers":[{"name":"a","name":"b"}]},"data":{"a":1,"b":2,"a":3,"a":4}})";
  for (const auto& reader : {parse, parse_like_go}) {
    Arena arena;
    ParseReport report;
    const auto value = reader(arena, text, &report);
    ASSERT_TRUE(value);
    EXPECT_EQ(write(*value), R"({"spec":{"containers":[{"name":"b"}]},"data":{"a":4,"b":2}})");
    EXPECT_THAT(report.duplicates, ElementsAre("spec.containers[0].name", "data.a", "data.a"));
  }
}

TEST(Parse, DuplicatesAreFoundInLargeObjects) {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += fmt::format(R"("key{}":{},)", i, i);
  text += R"("key17":"again"})";
  Arena arena;
  ParseReport report;
  const auto value = parse(arena, text, &report);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 5000U);
  EXPECT_EQ(value->members()[17].value.as_string(), "again");
  EXPECT_THAT(report.duplicates, ElementsAre("key17"));
}

TEST(Parse, TreeOutlivesTheText) {
  Arena arena;
  std::string text = R"({"key": "value"})";
  const auto value = parse(arena, text);
  text.assign(text.size(), '#');
  ASSERT_TRUE(value);
  EXPECT_EQ(write(*value), R"({"key":"value"})");
}

TEST(Parse, LargeAndSmallTextsAlternate) {
  const std::string large = "[\"" + std::string(1 << 20, 'x') + "\"]";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(outcome(large).size(), large.size());
    EXPECT_EQ(outcome("[1]"), "[1]");
  }
}

}  // namespace parse_test
}  // namespace muster::json
