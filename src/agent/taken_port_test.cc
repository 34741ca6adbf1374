#include "agent/taken_port.h"

#include <gmock/gmock.h>

#include "json/parse.h"

namespace muster::agent {
namespace taken_port_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

struct ComplaintCase {
  const char* program;
  const char* log;
  std::vector<int> ports;
};

TEST(PortsComplainedOf, AreThoseOfLinesAboutAnAddressInUse) {
  const std::vector<ComplaintCase> cases = {
      {"python", "OSError: [Errno 98] Address already in use\n", {}},
      {"go", "2026/11/15 20:22:45 listen tcp :8080: bind: address already in use", {8080}},
      {"node", "Error: listen EADDRINUSE: address already in use :::3000\n  port: 3000\n}", {3000}},
      {"nginx", "bind() to 0.0.0.0:81 failed (98: Address already in use)\n", {81}},
      {"torch",
       "RuntimeError: The server socket has failed to listen on any local network address. port: "
       "29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use\n"
       "frame #0: c10::Error (0x7f:22)\n",
       {29500}},
      {"muster", "cannot listen at 127.0.0.5:29411: Address already in use", {29411}},
      {"six", "bind [::]:8443: address already in use", {8443}},
      {"two lines", "port 81: Address already in use\nport 82: Address already in use", {81, 82}},
      {"no port", "port 99999: address already in use at 12:34:22", {}},
  };
  for (const ComplaintCase& each : cases)
    EXPECT_THAT(ports_complained_of(each.log), Optional(each.ports)) << each.program;
  EXPECT_FALSE(ports_complained_of("connection to port 8080 refused\n"));
  EXPECT_FALSE(ports_complained_of(""));
}

class TakenPort : public ::testing::Test {
 protected:
  void container(std::string_view spec) { failed_.container = *json::parse(arena_, spec); }
  void holds(int port, const char* address, std::string pod, int pid = 7) {
    const std::string_view at = address;
    users_[port].push_back({.holder = {.socket = {.address = address,
                                                  .any_address = at == "0.0.0.0" || at == "::",
                                                  .uid = 1001},
                                       .pid = pid,
                                       .process = pid == 0 ? "" : "python3"},
                            .pod = std::move(pod)});
  }
  std::string answer() { return taken_port(failed_, asked_); }

  json::Arena arena_;
  FailedContainer failed_{.pod_ip = "127.9.0.1", .hostname = "train-workers-0-0"};
  std::map<int, std::vector<PortUser>> users_;
  int questions_ = 0;
  ManualClock clock_{Time(std::chrono::seconds(1'900'000'000))};
  PortUsers asked_{clock_, [this](int port) {
                     ++questions_;
                     return users_[port];
                   }};
};

TEST_F(TakenPort, NamesThePodThatListensWhereTheContainerSaysThatItDoes) {
  container(R"({"ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":8080}]})");
  EXPECT_EQ(answer(), "") << "nobody is there";
  clock_.advance(std::chrono::seconds(1));
  holds(53, "0.0.0.0", "kube-system/dns");
  holds(8080, "0.0.0.0", "team/web-0");
  EXPECT_EQ(answer(), "port 8080 is taken by pod team/web-0 (python3, pid 7)");
}

TEST_F(TakenPort, NamesTheProcessOrTheUserIfItIsOfNoPod) {
  container(R"({"ports":[{"containerPort":8080}]})");
  holds(8080, "127.9.0.1", "");
  EXPECT_EQ(answer(), "port 8080 is taken by python3 (pid 7)");
  users_.clear();
  clock_.advance(std::chrono::seconds(1));
  holds(8080, "::", "", 0);
  EXPECT_EQ(answer(), "port 8080 is taken by a process of user 1001");
}

TEST_F(TakenPort, AnotherAddressIsNotInTheWayUnlessTheProgramSaysSo) {
  container(R"({"ports":[{"containerPort":8080}]})");
  holds(8080, "127.9.0.2", "team/web-1");
  EXPECT_EQ(answer(), "");
  failed_.last_lines = "OSError: [Errno 98] Address already in use";
  EXPECT_EQ(answer(), "port 8080 is taken by pod team/web-1 (python3, pid 7)");
}

TEST_F(TakenPort, ThePortOfTheMasterIsTheMastersAlone) {
  const char* const spec = R"({"env":[{"name":"MASTER_ADDR","value":"train-workers-0-0.train"},
                                      {"name":"MASTER_PORT","value":"12345"}]})";
  container(spec);
  holds(12345, "::", "team/other");
  EXPECT_EQ(answer(), "port 12345 is taken by pod team/other (python3, pid 7)");
  // For the others the master is where it should be.
  failed_.hostname = "train-workers-0-1";
  EXPECT_EQ(answer(), "");
  failed_.last_lines = "bind: Address already in use";
  EXPECT_NE(answer(), "");
}

TEST_F(TakenPort, WhatTheProgramSaysComesFirst) {
  container(R"({"ports":[{"containerPort":8080}]})");
  holds(8080, "0.0.0.0", "team/web-0");
  holds(9090, "0.0.0.0", "team/metrics");
  failed_.last_lines = "listen tcp :9090: bind: address already in use";
  EXPECT_EQ(answer(), "port 9090 is taken by pod team/metrics (python3, pid 7)");
}

TEST_F(TakenPort, AGangThatFailsTogetherAsksOnce) {
  container(R"({"ports":[{"containerPort":8080}]})");
  for (int pod = 0; pod < 256; ++pod) answer();
  EXPECT_EQ(questions_, 1);
  clock_.advance(std::chrono::seconds(1));
  answer();
  EXPECT_EQ(questions_, 2);
}

}  // namespace taken_port_test
}  // namespace muster::agent
