#include "api/values/quantity.h"

#include <gtest/gtest.h>

#include <limits>

#include "json/parse.h"

namespace muster::api {
namespace quantity_test {

Quantity quantity(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(Quantity());
}

TEST(Quantity, PrintsTheCanonicalForm) {
  const std::vector<std::pair<std::string, std::string>> cases{
      // decimal: no fraction, the largest suffix
      {"0", "0"},
      {"+0", "0"},
      {"0.0", "0"},
      {"0Gi", "0"},
      {"00", "0"},
      {"1.5", "1500m"},
      {"1000m", "1"},
      {"1000000", "1M"},
      {"0.1", "100m"},
      {"100m", "100m"},
      {"1500m", "1500m"},
      {"1000k", "1M"},
      {"12k", "12k"},
      {"0.001", "1m"},
      {".5", "500m"},
      {"0.000001", "1u"},
      {"1000u", "1m"},
      {"-1.5", "-1500m"},
      {"1000E", "1000E"},
      {"10P", "10P"},
      // binary: the largest suffix that leaves an integer
      {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},
      {"0.5Gi", "512Mi"},
      {"1500Mi", "1500Mi"},
      {"1.5Ki", "1536"},
      {"1Ki", "1Ki"},
      {"0.5Ki", "512"},
      {"1023", "1023"},
      {"2048Ki", "2Mi"},
      {"3Pi", "3Pi"},
      {"-2048Ki", "-2Mi"},
      // fractions of a byte are decimal
      {".001Ki", "1024m"},
      {".000001Ki", "1024u"},
      {".000000001Ki", "1024n"},
      {".000000000001Ki", "2n"},
      // exponents stay
      {"1e3", "1e3"},
      {"1000e0", "1e3"},
      {"1e-3", "1e-3"},
      {"1e1", "10"},
      {"1e4", "10e3"},
      {"0e5", "0"},
      // finer than a billionth rounds away from zero
      {"0.1n", "1n"},
      {"1e-10", "1e-9"},
      {"-0.1n", "-1n"},
      {"1.0000000001", "1000000001n"},
  };
  for (const auto& [typed, printed] : cases) EXPECT_EQ(quantity(typed).text(), printed) << typed;
}

TEST(Quantity, EchoesWhatUpstreamEchoes) {
  for (const auto* text : {"5.", "1E3", "1.500", "+5", "05", "12e6", "+3Gi"}) {
    EXPECT_EQ(quantity(text).text(), text);
  }
}

TEST(Quantity, BlanksAroundItAreCut) { EXPECT_EQ(quantity(" 1Gi\n").text(), "1Gi"); }

TEST(Quantity, RefusesWhatIsNoQuantity) {
  constexpr const char* kForm =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  constexpr const char* kSuffix = "unable to parse quantity's suffix";
  constexpr const char* kNumber = "unable to parse numeric part of quantity";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", kForm},      {"aoeu", kForm},   {"1.1.M", kForm},     {"1+1.0M", kForm},
      {"1 Gi", kForm},  {"0.1am", kForm},  {"0.1mi", kSuffix},   {".5i", kSuffix},
      {"1i", kSuffix},  {"1e", kSuffix},   {"-3.01e-", kSuffix}, {"1e99999", kSuffix},
      {"1ki", kSuffix}, {"1K", kSuffix},   {"Ki", kNumber},      {".", kNumber},
      {"+", kNumber},   {"1e40", kNumber},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = Quantity::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Code::kBadRequest);
    EXPECT_EQ(parsed.error().message, message) << text;
  }
}

TEST(Quantity, BinaryAmountsAreCapped) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(quantity("8Ei").value(), kMost);
  EXPECT_EQ(quantity("99999999999999999999999999999999999999999999Ei").value(), kMost);
  EXPECT_EQ(quantity("-8Ei").value(), -kMost);
  EXPECT_EQ(quantity("8Ei").text(), "9223372036854775807");
}

TEST(Quantity, ValuesRoundAwayFromZero) {
  EXPECT_EQ(quantity("1.1").value(), 2);
  EXPECT_EQ(quantity("-1.1").value(), -2);
  EXPECT_EQ(quantity("1Gi").value(), 1 << 30);
  EXPECT_EQ(quantity("100m").milli_value(), 100);
  EXPECT_EQ(quantity("1u").milli_value(), 1);
  EXPECT_EQ(quantity("20E").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(quantity("20E").milli_value(), std::numeric_limits<std::int64_t>::max());
}

TEST(Quantity, RoundsUpToMilli) {
  EXPECT_EQ(quantity("100u").rounded_up_to_milli().text(), "1m");
  EXPECT_EQ(quantity("1.234500").rounded_up_to_milli().text(), "1235m");
  EXPECT_EQ(quantity("5.").rounded_up_to_milli().text(), "5.");
}

TEST(Quantity, IsReadFromTextAndNumbersAlike) {
  json::Arena arena;
  const json::Value list = *json::parse(arena, R"(["500m",0.5,2,"2",1e3,null,true])");
  const auto read = [&](std::size_t i) { return Quantity::read(list.item(i)); };
  EXPECT_EQ(read(0)->milli_value(), 500);
  EXPECT_EQ(read(1)->milli_value(), 500);
  EXPECT_EQ(*read(2), *read(3));
  EXPECT_EQ(read(4)->value(), 1000);
  EXPECT_FALSE(read(5));
  EXPECT_FALSE(read(6));
}

TEST(Quantity, AddsAndComparesExactly) {
  Quantity sum;
  sum += quantity("1Gi");
  EXPECT_EQ(sum.text(), "1Gi") << "zero takes over the family";
  sum += quantity("1G");
  EXPECT_EQ(sum.text(), "2073741824");
  sum -= quantity("3Gi");
  EXPECT_TRUE(sum.is_negative());
  EXPECT_EQ(quantity("1000m"), quantity("1"));
  EXPECT_LT(quantity("999m"), quantity("1"));
  EXPECT_GT(quantity("1Ki"), quantity("1k"));
  EXPECT_EQ(Quantity::of(3).text(), "3");
  EXPECT_EQ(Quantity::of_milli(2500).text(), "2500m");
  EXPECT_TRUE(Quantity().is_zero());
}

TEST(Quantity, SumsStopAtTheLimit) {
  const Quantity large = quantity("9999999999999999999999999999");
  Quantity sum = large;
  for (int i = 0; i < 100; ++i) sum += large;
  EXPECT_GT(sum, large);
  for (int i = 0; i < 300; ++i) sum -= large;
  EXPECT_LT(sum, Quantity());
}

}  // namespace quantity_test
}  // namespace muster::api
