#include "cli/follow/log_streams.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace log_streams_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A server of one pod, whose log it gives as the test says.
class LogStreamsTest : public ::testing::Test {
 protected:
  void answer(const std::shared_ptr<http::Exchange>& exchange) {
    const std::string& target = exchange->request().target;
    if (!target.contains("/log?")) {
      return exchange->respond({.status = 200,
                                .headers = {},
                                .body = {http::Chunk::literal(R"({"metadata":{"uid":"u1"}})")}});
    }
    asked.push_back(target);
    const int status = statuses.empty() ? 200 : statuses.front();
    if (!statuses.empty()) statuses.erase(statuses.begin());
    if (status != 200) {
      return exchange->respond(
          {.status = status,
           .headers = {},
           .body = {http::Chunk::own(fmt::format(
               R"({{"kind":"Status","status":"Failure","message":"no","code":{}}})", status))}});
    }
    exchange->start_stream({.status = 200, .headers = {}, .body = {}});
    for (const std::string& line : log) exchange->send({http::Chunk::own(line)});
    exchange->finish();
  }
  void read() { streams.read({.pod = "p", .uid = "u1", .container = "main", .prefix = {}}); }

  std::vector<std::string> log;
  std::vector<int> statuses;  // of the next answers; then 200
  std::vector<std::string> asked, printed;
  std::vector<std::string> ended;  // with what refusal
  std::unique_ptr<VirtualLoop> loop = make_virtual_loop(Time{});
  std::unique_ptr<client::Transport> transport = client::make_in_process_transport(
      *loop, [this](const std::shared_ptr<http::Exchange>& exchange) { answer(exchange); });
  client::Client client{*transport, "test"};
  LogStreams streams{
      client,
      "default",
      {.container = {}},
      {.line = [this](const LogRun&, const auto& line) { printed.emplace_back(line.text); },
       .ended = [this](const LogRun&, const std::string& why) { ended.push_back(why); }}};
};

TEST_F(LogStreamsTest, WhatIsHeldBackGoesOnWhereItWas) {
  log = {"2026-11-15T09:00:01Z one\n2026-11-15T09:00:02Z two\n", "2026-11-15T09:00:02Z three\n"};
  streams.hold_while([&] { return printed.size() == 2; });
  read();
  loop->run();
  EXPECT_THAT(printed, ElementsAre("one", "two"));
  EXPECT_THAT(ended, IsEmpty()) << "there is more to come";
  streams.hold_while([] { return false; });
  streams.go_on();
  loop->run();
  EXPECT_THAT(printed, ElementsAre("one", "two", "three"));
  EXPECT_THAT(asked.back(), HasSubstr("sinceTime=2026-11-15T09"));
  EXPECT_THAT(ended, ElementsAre(""));
}

TEST_F(LogStreamsTest, AServerThatHasNoRoomIsAskedAgain) {
  log = {"2026-11-15T09:00:01Z one\n"};
  statuses = {503, 429, 503};
  read();
  loop->run();
  EXPECT_THAT(printed, ElementsAre("one"));
  EXPECT_THAT(ended, ElementsAre(""));
  EXPECT_EQ(asked.size(), 4u);
}

TEST_F(LogStreamsTest, ARefusalIsTold) {
  statuses = {400};
  read();
  loop->run();
  EXPECT_THAT(ended, ElementsAre("no"));
}

TEST_F(LogStreamsTest, OneThatNeverHasRoomIsGivenUp) {
  statuses.assign(1000, 503);
  read();
  loop->run();
  EXPECT_THAT(ended, ElementsAre("no"));
  EXPECT_LT(asked.size(), 100u);
}

}  // namespace log_streams_test
}  // namespace muster::cli
