#include "engine/listen_address.h"

#include <gtest/gtest.h>

namespace muster::engine {
namespace listen_address_test {

TEST(Listen, ReadsAddressAndPort) {
  const auto listen = parse_listen("127.0.0.1:6443");
  EXPECT_EQ(listen->address, "127.0.0.1");
  EXPECT_EQ(listen->port, 6443);
}

TEST(Listen, TakesBracketsOffIpv6) {
  const auto listen = parse_listen("[::1]:0");
  EXPECT_EQ(listen->address, "::1");
  EXPECT_TRUE(listen->loopback());
}

TEST(Listen, NoAddressIsLoopback) { EXPECT_TRUE(parse_listen(":6443")->loopback()); }

TEST(Listen, OtherAddressesAreNotLoopback) { EXPECT_FALSE(parse_listen("0.0.0.0:1")->loopback()); }

TEST(Listen, RefusesWhatIsNeither) {
  for (const char* text :
       {"", "6443", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "::1:6443"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

}  // namespace listen_address_test
}  // namespace muster::engine
