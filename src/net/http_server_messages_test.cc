// Connections that become WebSockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "net/http_server.h"
#include "net/testing.h"
#include "net/testing_frames.h"

namespace muster::net {
namespace http_server_messages_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<http::Chunk> message(std::string text) {
  std::vector<http::Chunk> chunks;
  chunks.push_back(http::Chunk::own(std::move(text)));
  return chunks;
}

std::string server_frame(Opcode opcode, std::string_view payload) {
  return frame(opcode, payload, {.masked = false});
}
const std::string kClosed = close_frame(CloseCode::kNormal);

// Sends every message back; "end" ends.
void echo_messages(const std::shared_ptr<http::Exchange>& exchange) {
  exchange->upgrade(
      {.protocol = "echo", .max_message_bytes = 1000, .message = [exchange](std::string_view text) {
         exchange->send(message(std::string(text)));
         if (text == "end") exchange->finish();
       }});
}

struct Talk {
  explicit Talk(HttpServer& server) : client(server.port()) {
    client.send(websocket_request("/", "echo"));
    head = client.read_until("\r\n\r\n");
  }
  std::string read(std::size_t bytes) { return client.read_bytes(bytes); }
  RawClient client;
  std::string head;
};

TEST(HttpServerMessages, GoBothWaysUntilTheNormalEnd) {
  const auto server = serve(echo_messages);
  Talk talk(*server);
  EXPECT_THAT(talk.head, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(talk.head, HasSubstr("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_THAT(talk.head, HasSubstr("\r\nSec-WebSocket-Protocol: echo\r\n"));
  EXPECT_THAT(talk.head, HasSubstr("\r\nConnection: Upgrade\r\n"));
  for (const char* text : {"one", "", "three"}) {
    ASSERT_TRUE(talk.client.send(frame(Opcode::kBinary, text)));
    const std::string expected = server_frame(Opcode::kBinary, text);
    EXPECT_EQ(talk.read(expected.size()), expected);
  }
  ASSERT_TRUE(talk.client.send(frame(Opcode::kText, "end")));
  EXPECT_EQ(talk.client.read_to_end(), server_frame(Opcode::kBinary, "end") + kClosed);
}

TEST(HttpServerMessages, MayFollowTheRequestAtOnce) {
  const auto server = serve(echo_messages);
  RawClient client(server->port());
  ASSERT_TRUE(client.send(websocket_request("/") + frame(Opcode::kBinary, "early") +
                          frame(Opcode::kBinary, "end")));
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_to_end(), server_frame(Opcode::kBinary, "early") +
                                      server_frame(Opcode::kBinary, "end") + kClosed);
}

TEST(HttpServerMessages, MayFollowTheRequestBeforeItIsAnswered) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(websocket_request("/") + frame(Opcode::kBinary, "end")));
  echo_messages(mailbox.take());
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_to_end(), server_frame(Opcode::kBinary, "end") + kClosed);
}

TEST(HttpServerMessages, PingsAreAnsweredAndAClosingPeerIsToo) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(websocket_request("/")));
  auto exchange = mailbox.take();
  std::promise<void> closed;
  exchange->on_close([&] { closed.set_value(); });
  exchange->upgrade({.protocol = {}, .message = [](std::string_view) { ADD_FAILURE(); }});
  client.read_until("\r\n\r\n");
  ASSERT_TRUE(client.send(frame(Opcode::kPing, "there?") + frame(Opcode::kPong, "x") +
                          frame(Opcode::kClose, "\x03\xe8")));
  EXPECT_EQ(client.read_to_end(), server_frame(Opcode::kPong, "there?") + kClosed);
  closed.get_future().wait();
  exchange->send(message("too late"));
  exchange->finish();
}

TEST(HttpServerMessages, WrongFramesAndLongMessagesEndTheConnectionWithTheReason) {
  const auto server = serve(echo_messages);
  Talk wrong(*server);
  ASSERT_TRUE(wrong.client.send(frame(Opcode::kBinary, "x", {.masked = false})));
  EXPECT_EQ(wrong.client.read_to_end(), close_frame(CloseCode::kProtocolError));
  Talk large(*server);
  ASSERT_TRUE(large.client.send(frame(Opcode::kBinary, std::string(1001, 'x'))));
  EXPECT_EQ(large.client.read_to_end(), close_frame(CloseCode::kTooBig));
}

TEST(HttpServerMessages, AreOnlyForThoseWhoAskRightly) {
  const auto server = serve(echo_messages);
  RawClient plain(server->port());
  ASSERT_TRUE(plain.send(get("/")));
  EXPECT_EQ(plain.read_answer().status(), 400);
  RawClient old(server->port());
  std::string request = websocket_request("/");
  ASSERT_TRUE(old.send(request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0")));
  const auto answer = old.read_answer();
  EXPECT_EQ(answer.status(), 400);
  EXPECT_THAT(answer.body, HasSubstr("Upgrade request required"));
}

TEST(HttpServerMessages, AreNotForPagesOfOtherSites) {
  const auto server = serve([](const auto&) { ADD_FAILURE() << "was not refused"; });
  RawClient page(server->port());
  std::string request = websocket_request("/");
  request.insert(request.size() - 2, "Origin: https://evil.example\r\n");
  ASSERT_TRUE(page.send(request));
  EXPECT_EQ(page.read_answer().status(), 403);
}

TEST(HttpServerMessages, HeldOnesWaitWithTheirSender) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(websocket_request("/")));
  auto exchange = mailbox.take();
  std::atomic<int> received = 0;
  std::promise<void> first, all;
  constexpr int kMessages = 100;
  exchange->upgrade({.protocol = {}, .message = [&, exchange](std::string_view) {
                       if (++received == 1) {
                         exchange->hold_messages(true);
                         first.set_value();
                       }
                       if (received == kMessages) all.set_value();
                     }});
  client.read_until("\r\n\r\n");
  ASSERT_TRUE(client.send(frame(Opcode::kBinary, "first")));
  first.get_future().wait();
  std::promise<void> is_held;
  exchange->post([&] { is_held.set_value(); });
  is_held.get_future().wait();
  for (int i = 1; i < kMessages; ++i) ASSERT_TRUE(client.send(frame(Opcode::kBinary, "more")));
  EXPECT_EQ(received, 1);
  exchange->hold_messages(false);
  all.get_future().wait();
  exchange->finish();
  EXPECT_EQ(client.read_to_end(), kClosed);
}

TEST(HttpServerMessages, AProducerIsToldWhenAllWasTaken) {
  Mailbox mailbox;
  const auto server = serve(mailbox.handler());
  RawClient client(server->port());
  ASSERT_TRUE(client.send(get("/")));
  const auto exchange = mailbox.take();
  std::promise<void> sent;
  std::atomic<bool> told = false;
  const std::size_t large = 64u << 20;  // what no socket buffer takes
  exchange->start_stream({});
  exchange->send(message(std::string(large, 'x')));
  exchange->when_sent([&] {
    told = true;
    sent.set_value();
  });
  std::promise<void> carried_out;
  exchange->post([&] { carried_out.set_value(); });
  carried_out.get_future().wait();
  EXPECT_FALSE(told);
  client.read_until("\r\n\r\n");
  client.read_bytes(large);
  sent.get_future().wait();
  EXPECT_EQ(exchange->unsent_bytes(), 0U);
  exchange->finish();
  EXPECT_THAT(client.read_until("0\r\n\r\n"), testing::EndsWith("0\r\n\r\n"));
}

}  // namespace http_server_messages_test
}  // namespace muster::net
