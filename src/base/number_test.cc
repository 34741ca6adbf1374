#include "base/number.h"

#include <gtest/gtest.h>

namespace muster {
namespace number_test {

TEST(Numbers, AreReadWholeOrNotAtAll) {
  EXPECT_EQ(parse_number<int>("0"), 0);
  EXPECT_EQ(parse_number<int>("-17"), -17);
  EXPECT_EQ(parse_number<std::int8_t>("127"), 127);
  for (const std::string_view text : {"", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "one"})
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  EXPECT_EQ(parse_number<std::int8_t>("128"), std::nullopt) << "does not fit";
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<int>("1F90", 16), 8080);
}

}  // namespace number_test
}  // namespace muster
