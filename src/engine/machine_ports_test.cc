#include "engine/machine_ports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/unique_fd.h"
#include "controllers/jobset/master_port.h"

namespace muster::engine {
namespace machine_ports_test {

TEST(PortRange, IsReadAsTheKernelWritesIt) {
  const PortRange usual = port_range("32768\t60999");
  EXPECT_FALSE(usual.contains(32'767));
  EXPECT_TRUE(usual.contains(32'768));
  EXPECT_TRUE(usual.contains(60'999));
  EXPECT_FALSE(usual.contains(61'000));
  for (const char* const text : {"", "x", "32768", "32768 y"})
    for (const int port : {0, 1, 32'768}) EXPECT_FALSE(port_range(text).contains(port)) << text;
}

// Of all candidates the first that is free, taken here at one address only.
TEST(MachinePorts, AreNotFreeIfAnyAddressOfThemIsTaken) {
  const controllers::PortIsFree is_free = ports_of_this_machine();
  using namespace controllers::jobset;
  int port = kFirstMasterPort;
  while (port <= kLastMasterPort && !is_free(port)) ++port;
  ASSERT_LE(port, kLastMasterPort);
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, "127.0.0.77", &at.sin_addr);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  EXPECT_FALSE(is_free(port));
}

}  // namespace machine_ports_test
}  // namespace muster::engine
