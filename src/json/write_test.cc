#include "json/write.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "base/rng.h"
#include "json/testing.h"

namespace muster::json {
namespace write_test {

std::string double_text(double value) {
  std::string out;
  write_double(out, value);
  return out;
}

// Text is looked at in words of eight bytes: a character is escaped wherever in one it stands.
TEST(Write, SpecialCharactersAreFoundAtEveryPlace) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"\"", "\\\""},   {"\\", "\\\\"},       {"<", "\\u003c"},      {">", "\\u003e"},
      {"&", "\\u0026"}, {"\n", "\\n"},        {"\x1f", "\\u001f"},   {" ", " "},
      {"\x7f", "\x7f"}, {"\u00e9", "\u00e9"}, {"\u2028", "\\u2028"}, {"\xff", "\\ufffd"}};
  for (const auto& [character, escaped] : rows) {
    for (std::size_t size = 0; size < 20; ++size) {
      for (std::size_t at = 0; at <= size; ++at) {
        const std::string before(at, '=');
        const std::string after(size - at, '!');
        std::string out;
        write_string(out, before + std::string(character) + after);
        EXPECT_EQ(out, '"' + before + std::string(escaped) + after + '"');
      }
    }
  }
}

TEST(Write, DoublesAreLaidOutAsGoDoes) {
  const struct {
    double value;
    const char* text;
  } rows[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {100, "100"},
      {1234.5, "1234.5"},
      {0.000001, "0.000001"},
      {0.0000012, "0.0000012"},
      {0.0000001, "1e-7"},
      {1.25e-9, "1.25e-9"},
      {1e-10, "1e-10"},
      {1e20, "100000000000000000000"},
      {123456789012345678901.0, "123456789012345680000"},
      {1e21, "1e+21"},
      {1.5e300, "1.5e+300"},
      {-2.5e-300, "-2.5e-300"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {0.1 + 0.2, "0.30000000000000004"},
  };
  for (const auto& row : rows) EXPECT_EQ(double_text(row.value), row.text);
}

TEST(Write, EveryDoubleReadsBackAsItself) {
  Rng rng(11);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::bit_cast<double>(rng.next());
    if (!std::isfinite(value)) continue;
    const Tree back(double_text(value));
    EXPECT_EQ(back.root.as_double(), value) << double_text(value);
  }
}

TEST(Write, StringsAreEscapedAsGoDoes) {
  const struct {
    std::string_view text;
    const char* written;
  } rows[] = {
      {"", R"("")"},
      {"plain", R"("plain")"},
      {"a\"b\\c/", R"("a\"b\\c/")"},
      {"\b\f\n\r\t", R"("\b\f\n\r\t")"},
      {std::string_view("\0\x1f\x7f", 3), "\"\\u0000\\u001f\x7f\""},
      {"<a href=\"x\">&</a>", R"("\u003ca href=\"x\"\u003e\u0026\u003c/a\u003e")"},
      {"é 😀", "\"é 😀\""},
      {"\u2027\u2028\u2029\u202a", "\"\u2027\\u2028\\u2029\u202a\""},
      {"a\xff\xc3", R"("a\ufffd\ufffd")"},
      {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
  };
  for (const auto& row : rows) {
    std::string out;
    write_string(out, row.text);
    EXPECT_EQ(out, row.written);
  }
}

TEST(Write, AppendsToWhatIsThere) {
  std::string out = "prefix ";
  write(out, Tree(R"([1, {"a": null}])"));
  write(out, Value::of(true));
  EXPECT_EQ(out, R"(prefix [1,{"a":null}]true)");
}

TEST(Write, LongTextsGrowTheBuffer) {
  const std::string text = "\"" + std::string(100'000, 'x') + "<";
  std::string expected = R"("\")" + std::string(100'000, 'x') + R"(\u003c")";
  EXPECT_EQ(write(Value::view(text)), expected);
}

TEST(Write, Pretty) {
  EXPECT_EQ(write_pretty(Tree(R"({"a":[1,{"b":"c"}],"e":{},"f":[],"g":null})")),
            R"({
  "a": [
    1,
    {
      "b": "c"
    }
  ],
  "e": {},
  "f": [],
  "g": null
})");
  EXPECT_EQ(write_pretty(Tree("[1]"), 4), "[\n    1\n]");
  EXPECT_EQ(write_pretty(Value::view("")), R"("")");
}

}  // namespace write_test
}  // namespace muster::json
