#include "net/http_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/answer.h"
#include "net/url.h"

namespace muster::net {
namespace http_text_test {

TEST(HttpText, DateIsInTheFormOfRfc9110) {
  EXPECT_EQ(http_date(Time(std::chrono::seconds(784'111'777))), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpText, NoHeaderValueCanBeginAnother) {
  http::Response response;
  response.headers = {{"Location", "/a\r\nSet-Cookie: x=y\r\n\r\n<html>"}};
  EXPECT_EQ(response_head(response, {.length = 0}),
            "HTTP/1.1 200 OK\r\nLocation: /a  Set-Cookie: x=y    <html>\r\n"
            "Content-Length: 0\r\n\r\n");
  EXPECT_FALSE(is_sendable({"A", "b\r\nC: d"}));
  EXPECT_FALSE(is_sendable({"A B", "c"}));
  EXPECT_FALSE(is_sendable({"", "c"}));
  EXPECT_TRUE(is_sendable({"Authorization", "Bearer abc"}));
}

std::string text_of(OutputQueue& queue) {
  std::string text;
  std::array<char, 7> scratch;
  while (!queue.empty()) {
    const std::string_view next = queue.next(scratch);
    text += next;
    queue.consume(next.size());
  }
  return text;
}

http::Response hello() {
  http::Response response;
  response.body = {http::Chunk::literal("hel"), http::Chunk::literal("lo")};
  return response;
}

TEST(Answer, OfKnownLength) {
  OutputQueue out;
  Answer answer;
  answer.respond(hello(), {.date = "D"}, out);
  EXPECT_TRUE(answer.is_complete());
  EXPECT_EQ(text_of(out), "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 5\r\n\r\nhello");
}

TEST(Answer, ToHeadHasTheLengthButNotTheBody) {
  OutputQueue out;
  Answer().respond(hello(), {.to_head = true, .close = true}, out);
  EXPECT_EQ(text_of(out), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
}

TEST(Answer, SomeStatusesHaveNoBodyAtAll) {
  OutputQueue out;
  http::Response response = hello();
  response.status = 304;
  Answer().respond(std::move(response), {}, out);
  EXPECT_EQ(text_of(out), "HTTP/1.1 304 Not Modified\r\n\r\n");
}

TEST(Answer, AStreamIsSentInChunksAndEmptyOnesDoNotEndIt) {
  OutputQueue out;
  Answer answer;
  answer.start_stream(hello(), {}, out);
  answer.send({}, out);
  answer.send({http::Chunk::literal("0123456789abcdef")}, out);
  EXPECT_FALSE(answer.is_complete());
  answer.finish(out);
  answer.send({http::Chunk::literal("too late")}, out);
  EXPECT_EQ(text_of(out),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
}

TEST(Answer, AStreamToAnOldClientEndsWithTheConnection) {
  OutputQueue out;
  Answer answer;
  answer.start_stream(hello(), {.to_http_1_0 = true, .close = true}, out);
  answer.finish(out);
  EXPECT_EQ(text_of(out), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
}

TEST(OutputQueue, GathersSmallPiecesAndReturnsLargeOnesWhereTheyLie) {
  const std::string large(100, 'x');
  std::array<char, 8> scratch;
  OutputQueue queue;
  queue.push(http::Chunk::literal("ab"));
  queue.push(http::Chunk::literal(""));
  queue.push(http::Chunk::literal("cd"));
  EXPECT_EQ(queue.next(scratch), "abcd");
  queue.push(http::Chunk::literal(large));
  EXPECT_EQ(queue.next(scratch), "abcdxxxx") << "the same bytes and more";
  queue.consume(6);
  EXPECT_EQ(queue.next(scratch).data(), large.data() + 2);
  EXPECT_EQ(queue.bytes(), 98U);
}

TEST(OutputQueue, LetsGoOfWhatWasWritten) {
  OutputQueue queue;
  const auto kept = std::make_shared<const std::string>("abc");
  queue.push({*kept, kept});
  queue.push(http::Chunk::literal("def"));
  queue.consume(3);
  EXPECT_EQ(kept.use_count(), 1);
  for (int i = 0; i < 1000; ++i) {  // never quite empty, and yet bounded
    queue.push(http::Chunk::literal("def"));
    queue.consume(3);
  }
  EXPECT_EQ(queue.bytes(), 3U);
}

TEST(Url, PartsOfAnAddress) {
  const Url url = parse_url("https://LocalHost:6443/api/v1?watch=1").value();
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.host, "localhost");
  EXPECT_EQ(url.port, 6443);
  EXPECT_EQ(url.target, "/api/v1?watch=1");
  EXPECT_EQ(url.authority(), "localhost:6443");
  EXPECT_EQ(url.endpoint(), "https://localhost:6443");

  EXPECT_EQ(parse_url("http://10.0.0.1").value().port, 80);
  EXPECT_EQ(parse_url("https://example?x=1").value().target, "/?x=1");
  EXPECT_EQ(parse_url("https://example:443/").value().authority(), "example");
  EXPECT_EQ(parse_url("https://[FD00::1]:1/").value().authority(), "[fd00::1]:1");
}

TEST(Url, WhatIsNoAddressIsRefused) {
  for (const char* text : {"", "localhost", "ftp://a", "https://", "https://:443", "https://a:0",
                           "https://a:65536", "https://a:b", "https://u:p@a/", "https://a/b c",
                           "https://a/b#c", "https://[::1", "https://[a]/", "https://a/\r\nX: y"}) {
    EXPECT_FALSE(parse_url(text).has_value()) << text;
  }
}

}  // namespace http_text_test
}  // namespace muster::net
