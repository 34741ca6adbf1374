#include "store/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::store {
namespace crc32c_test {

// The values of RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, AgreesWithPublishedValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i));
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
}

TEST(Crc32c, CanBeContinuedAtAnyPlace) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text));
  }
}

}  // namespace crc32c_test
}  // namespace muster::store
