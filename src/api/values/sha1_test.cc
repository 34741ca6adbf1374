#include "api/values/sha1.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace sha1_test {

TEST(Sha1, StandardVectors) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1, LengthsAroundABlock) {
  const std::vector<std::pair<std::size_t, std::string>> cases{
      {55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"},
      {56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"},
      {63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"},
      {64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"},
      {65, "11655326c708d70319be2610e8a57d9a5b959d3b"}};
  for (const auto& [length, hex] : cases) {
    EXPECT_EQ(sha1_hex(std::string(length, 'a')), hex) << length;
  }
}

}  // namespace sha1_test
}  // namespace muster::api
