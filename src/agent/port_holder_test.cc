#include "agent/port_holder.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "base/unique_fd.h"

namespace muster::agent {
namespace port_holder_test {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode                                                     \n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
    "4711 1 0000000000000000 100 0 0 10 0                      \n"
    "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "4712 1 0000000000000000 100 0 0 10 0                      \n"
    "   2: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 "
    "4713 1 0000000000000000 20 4 0 10 -1                      \n"
    "   3: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "4714 1 0000000000000000 100 0 0 10 0                      \n";

TEST(ListenersAt, AreThoseOfThePortAndNotItsConnections) {
  const auto found = listeners_at(8080, kTable);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].address, "127.0.0.1");
  EXPECT_FALSE(found[0].any_address);
  EXPECT_EQ(found[0].uid, 1000u);
  EXPECT_EQ(found[0].inode, 4711u);
  EXPECT_EQ(found[1].address, "0.0.0.0");
  EXPECT_TRUE(found[1].any_address);
}

TEST(ListenersAt, ReadsAddressesOfTheSixthVersion) {
  const auto found = listeners_at(
      443,
      "   0: 00000000000000000000000001000000:01BB 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n"
      "   1: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 00:00000000 00000000     0        0 78 1 0 100 0 0 10 0");
  EXPECT_THAT(found,
              ElementsAre(Field(&Listener::address, "::1"), Field(&Listener::address, "::")));
  EXPECT_TRUE(found[1].any_address);
}

TEST(ListenersAt, PassesOverWhatIsNoTable) {
  for (const char* const text : {"", "\n", "0: x:1F90 y 0A", "0: 7F:1F90 0:0 0A 0 0 0 0 0 1",
                                 "0: 0100007F:1F90 0:0 0A 0 0 0 x 0 1"})
    EXPECT_THAT(listeners_at(8080, text), IsEmpty()) << text;
}

// A socket of this process, at a port that the kernel chose.
struct Bound {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM, 0)};
  int port = 0;

  Bound() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    socklen_t size = sizeof at;
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    port = ntohs(at.sin_port);
  }
};

TEST(PortHolders, NamesTheProcessThatListens) {
  const Bound bound;
  EXPECT_THAT(port_holders(bound.port), IsEmpty()) << "it does not listen yet";
  ASSERT_EQ(::listen(bound.socket.get(), 1), 0);
  const auto found = port_holders(bound.port);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, ::getpid());
  std::string name;
  std::getline(std::ifstream("/proc/self/comm"), name);
  EXPECT_EQ(describe(found[0]), name + " (pid " + std::to_string(::getpid()) + ")");
}

TEST(PortHolders, OfOthersAreAtLeastKnownByTheirUser) {
  EXPECT_EQ(describe({.socket = {.uid = 1001}}), "a process of user 1001");
}

}  // namespace port_holder_test
}  // namespace muster::agent
