#include "agent/inputs/address_pool.h"

#include <gmock/gmock.h>

#include <set>

namespace muster::agent {
namespace address_pool_test {

std::string take(AddressPool& pool, const std::string& name) {
  const auto address = pool.take(name, std::nullopt);
  return address ? address_text(*address) : address.error().message;
}

TEST(AddressPool, GoesThroughItsBlock) {
  AddressPool pool(9);
  EXPECT_EQ(take(pool, "a"), "127.9.1.1");
  EXPECT_EQ(take(pool, "b"), "127.9.1.2");
  for (int i = 0; i < 252; ++i) take(pool, std::to_string(i));
  EXPECT_EQ(take(pool, "c"), "127.9.2.1");
}

TEST(AddressPool, ANameGetsItsLastAddressUnlessThatIsInUse) {
  AddressPool pool(9);
  const auto a = *pool.take("a", std::nullopt);
  EXPECT_NE(*pool.take("a", std::nullopt), a);
  pool.release(a);
  const auto b = *pool.take("b", std::nullopt);
  EXPECT_NE(b, a);
  pool.release(b);
  EXPECT_EQ(*pool.take("b", std::nullopt), b);
}

TEST(AddressPool, WhatIsKnownIsKept) {
  AddressPool pool(9);
  const std::uint32_t elsewhere = *parse_address("127.3.4.5");
  EXPECT_EQ(*pool.take("a", elsewhere), elsewhere);
  pool.release(elsewhere);
  EXPECT_EQ(take(pool, "a"), "127.9.1.1");  // a later one has an address of this block
  EXPECT_EQ(*pool.take("b", parse_address("127.9.1.1").value()), *parse_address("127.9.1.1"));
}

TEST(AddressPool, LeavesRememberedAddressesToTheirNamesAsLongAsItCan) {
  AddressPool pool(9);
  pool.remember("old", *parse_address("127.9.1.1"));
  EXPECT_EQ(take(pool, "new"), "127.9.1.2");
  EXPECT_EQ(take(pool, "old"), "127.9.1.1");
}

TEST(AddressPool, EveryoneHasAnAddressUntilNoneIsLeft) {
  AddressPool pool(254);
  std::set<std::uint32_t> addresses;
  for (std::uint32_t i = 0; i < AddressPool::kAddresses; ++i)
    ASSERT_TRUE(addresses.insert(*pool.take(std::to_string(i), std::nullopt)).second);
  EXPECT_EQ(address_text(*addresses.rbegin()), "127.254.254.254");
  EXPECT_EQ(take(pool, "more"), "all addresses of 127.254.0.0/16 are in use");
  pool.release(*parse_address("127.254.3.7"));
  EXPECT_EQ(take(pool, "more"), "127.254.3.7");
}

TEST(AddressPool, NamesThatComeAndGoUseTheWholeBlockAgainAndAgain) {
  AddressPool pool(9);
  for (std::uint32_t i = 0; i < 2 * AddressPool::kAddresses; ++i)
    pool.release(*pool.take(std::to_string(i), std::nullopt));
  EXPECT_EQ(take(pool, "next"), "127.9.1.1");
}

TEST(Addresses, AreReadAsWritten) {
  EXPECT_EQ(address_text(*parse_address("127.1.2.3")), "127.1.2.3");
  for (const char* wrong : {"", "127.1", "127.1.2.3.4", "::1", "127.1.2.256", " 127.1.2.3"})
    EXPECT_FALSE(parse_address(wrong)) << wrong;
}

}  // namespace address_pool_test
}  // namespace muster::agent
