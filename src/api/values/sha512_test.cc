#include "api/values/sha512.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace sha512_test {

TEST(Sha512, StandardVectors) {
  EXPECT_EQ(sha512_hex(""),
            "CF83E1357EEFB8BDF1542850D66D8007D620E4050B5715DC83F4A921D36CE9CE"
            "47D0D13C5D85F2B0FF8318D2877EEC2F63B931BD47417A81A538327AF927DA3E");
  EXPECT_EQ(sha512_hex("abc"),
            "DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A"
            "2192992A274FC1A836BA3C23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F");
  EXPECT_EQ(sha512_hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjkl"
                       "mnopqklmnopqrlmnopqrs"
                       "mnopqrstnopqrstu"),
            "8E959B75DAE313DA8CF4F72814FC143F8F7779C6EB9F7FA17299AEADB6889018"
            "501D289E4900F7E4331B99DEC4B5433AC7D329EEB6DD26545E96E55B874BE909");
  EXPECT_EQ(sha512_hex(std::string(1'000'000, 'a')),
            "E718483D0CE769644E2E42C7BC15B4638E1F98B13B2044285632A803AFA973EB"
            "DE0FF244877EA60A4CB0432CE577C31BEB009C5C2C49AA2E4EADB217AD8CC09B");
}

TEST(Sha512, LengthsAroundABlock) {
  const std::vector<std::pair<std::size_t, std::string>> cases{
      {111, "FA9121C7B32B9E01733D034CFC78CBF6"},
      {112, "C01D080EFD492776A1C43BD23DD99D0A"},
      {127, "828613968B501DC00A97E08C73B118AA"},
      {128, "B73D1929AA615934E61A871596B3F3B3"},
      {129, "4F681E0BD53CDA4B5A2041CC8A06F2EA"}};
  for (const auto& [length, head] : cases) {
    EXPECT_EQ(sha512_hex(std::string(length, 'a')).substr(0, 32), head) << length;
  }
}

}  // namespace sha512_test
}  // namespace muster::api
