#include "net/http_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::net {
namespace http_parser_test {

using testing::ElementsAre;
using testing::Pair;

constexpr ParseLimits kSmall{.header_bytes = 256, .body_bytes = 32};

// Feeds the bytes in steps, keeping what is not used, as a connection does.
std::optional<Refusal> feed_in_steps(RequestParser& parser, std::string_view bytes,
                                     std::size_t step) {
  std::string held;
  while (!bytes.empty() && !parser.done()) {
    held += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    const auto used = parser.feed(held);
    if (!used) return used.error();
    held.erase(0, *used);
  }
  return std::nullopt;
}

int refusal_of(std::string_view bytes, std::size_t step = 1000) {
  RequestParser parser(kSmall);
  const auto refusal = feed_in_steps(parser, bytes, step);
  return refusal ? refusal->status : 0;
}

TEST(RequestParser, ReadsMethodTargetHeadersAndBodyHoweverTheyAreCut) {
  const std::string_view text =
      "PUT /a?b=c HTTP/1.1\r\nHost: h\r\nX-Two:  words here \r\nContent-Length: 5\r\n\r\nhello";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    RequestParser parser(kSmall);
    ASSERT_FALSE(feed_in_steps(parser, text, step)) << step;
    ASSERT_TRUE(parser.done()) << step;
    EXPECT_EQ(parser.request().method, "PUT");
    EXPECT_EQ(parser.request().target, "/a?b=c");
    EXPECT_THAT(
        parser.request().headers,
        ElementsAre(Pair("Host", "h"), Pair("X-Two", "words here"), Pair("Content-Length", "5")));
    EXPECT_EQ(parser.request().body, "hello");
    EXPECT_TRUE(parser.keep_alive());
  }
}

TEST(RequestParser, ReadsChunksAndIgnoresTheirExtensionsAndTrailers) {
  const std::string_view text =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;a=b\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Trailer: t\r\n\r\n";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    RequestParser parser(kSmall);
    ASSERT_FALSE(feed_in_steps(parser, text, step)) << step;
    ASSERT_TRUE(parser.done()) << step;
    EXPECT_EQ(parser.request().body, "abcdefg");
    EXPECT_EQ(parser.request().headers.size(), 2U);
  }
}

TEST(RequestParser, ALastChunkMayComeInPieces) {
  RequestParser parser(kSmall);
  ASSERT_TRUE(parser.feed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
  EXPECT_EQ(parser.feed("0\r\n"), 0U);
  EXPECT_EQ(parser.feed("0\r\n\r"), 0U);
  EXPECT_EQ(parser.feed("0\r\n\r\n"), 5U);
  EXPECT_TRUE(parser.done());
}

TEST(RequestParser, LeavesTheNextRequestAlone) {
  const std::string first = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n";
  RequestParser parser(kSmall);
  EXPECT_EQ(parser.feed(first + "GET /2 HTTP/1.1\r\n"), first.size());
  EXPECT_TRUE(parser.done());
}

TEST(RequestParser, ABodyHasRoomForAParserThatReadsPastItsEnd) {
  RequestParser parser(kSmall);
  ASSERT_FALSE(feed_in_steps(
      parser, "POST / HTTP/1.1\r\nContent-Length: 32\r\n\r\n" + std::string(32, 'x'), 7));
  EXPECT_GE(parser.request().body.capacity(), 32 + kBodyPadding);
}

TEST(RequestParser, EmptyLinesBeforeARequestAreIgnored) {
  RequestParser parser(kSmall);
  ASSERT_FALSE(feed_in_steps(parser, "\r\n\r\nGET / HTTP/1.1\r\n\r\n", 1));
  EXPECT_TRUE(parser.done());
}

TEST(RequestParser, KeepAliveFollowsVersionAndConnectionHeader) {
  const auto keeps = [](std::string_view text) {
    RequestParser parser(kSmall);
    EXPECT_FALSE(feed_in_steps(parser, text, 1000));
    return parser.keep_alive();
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
}

struct RefusalCase {
  const char* why;
  std::string text;
  int status;
};

TEST(RequestParser, RefusesWhatIsMalformedAmbiguousOrTooLarge) {
  const std::string long_value(300, 'v');
  const RefusalCase cases[] = {
      {"not HTTP at all", "hello there\r\n\r\n", 400},
      {"a TLS hello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"unknown version", "GET / HTTP/3.0\r\n\r\n", 400},
      {"no target", "GET HTTP/1.1\r\n\r\n", 400},
      {"bare line feeds", "GET / HTTP/1.1\nHost: h\n\n\r\n\r\n", 400},
      {"blank before the colon", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
      {"control character in a value", "GET / HTTP/1.1\r\nA: b\x01\r\n\r\n", 400},
      {"NUL in a value", std::string("GET / HTTP/1.1\r\nA: b\0c\r\n\r\n", 26), 400},
      {"length is no number", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400},
      {"negative length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"signed length", "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
      {"length beyond 64 bits",
       "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"length and chunks",
       "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"chunks and length",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
      {"chunks twice",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"another coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"a coding that looks like chunked", "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
       501},
      {"a length beside an unknown coding",
       "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: x\r\n\r\n", 400},
      {"chunk size is no number", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       400},
      {"chunk longer than said",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
      {"header too long", "GET / HTTP/1.1\r\nA: " + long_value + "\r\n\r\n", 431},
      {"request line too long", "GET /" + long_value + " HTTP/1.1\r\n\r\n", 431},
      {"body too long", "POST / HTTP/1.1\r\nContent-Length: 33\r\n\r\n", 413},
      {"one chunk too long", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n21\r\n", 413},
      {"many chunks too long",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n"
       "10\r\n0123456789abcdef\r\n1\r\nx\r\n",
       413},
  };
  for (const RefusalCase& c : cases) {
    EXPECT_EQ(refusal_of(c.text), c.status) << c.why;
    EXPECT_EQ(refusal_of(c.text, 1), c.status) << c.why << ", byte by byte";
  }
}

TEST(RequestParser, HeadersThatArriveOneByOneAreBoundedAllTheSame) {
  std::string text = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 30; ++i) text += "X: 12345\r\n";
  for (const std::size_t step : {1U, 2U, 5U, 10U, 16U}) EXPECT_EQ(refusal_of(text, step), 431);
}

TEST(RequestParser, ChunkExtensionsAndTrailersAreBounded) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(refusal_of(head + "1;" + std::string(20'000, 'e'), 100), 431);
  EXPECT_EQ(refusal_of(head + "0\r\nA: " + std::string(20'000, 't'), 100), 431);
}

TEST(RequestParser, NamesTheLimitThatWasPassed) {
  RequestParser parser(ParseLimits{});
  const auto refusal = parser.feed("POST / HTTP/1.1\r\nContent-Length: 3145729\r\n\r\n");
  ASSERT_FALSE(refusal.has_value());
  const http::Response response = response_of(refusal.error());
  EXPECT_EQ(response.body[0].text,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"Request entity too large: limit is 3145728",)"
            R"("reason":"RequestEntityTooLarge","code":413})");
}

struct Answered {
  Result<std::size_t> used = 0;
  std::string body;
};

Answered feed(ResponseParser& parser, std::string_view bytes) {
  Answered answered;
  answered.used = parser.feed(bytes, [&](std::string_view data) { answered.body.append(data); });
  return answered;
}

TEST(ResponseParser, ReadsAnAnswerWithALength) {
  ResponseParser parser(1000, false);
  const auto answered = feed(parser, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: b\r\n\r\nhiX");
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(answered.body, "hi");
  EXPECT_EQ(parser.status(), 200);
  EXPECT_EQ(http::find_header(parser.headers(), "a"), "b");
  EXPECT_TRUE(parser.keep_alive());
}

TEST(ResponseParser, HandsOutAStreamPieceByPiece) {
  ResponseParser parser(1000, false);
  EXPECT_EQ(feed(parser, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab").body,
            "ab");
  EXPECT_TRUE(parser.header_done());
  EXPECT_EQ(feed(parser, "c").body, "c");
  EXPECT_FALSE(parser.feed_end().has_value());
  EXPECT_FALSE(parser.done());
}

TEST(ResponseParser, AnAnswerMayEndWithTheConnection) {
  ResponseParser parser(1000, false);
  EXPECT_EQ(feed(parser, "HTTP/1.1 200 OK\r\n\r\nall of it").body, "all of it");
  EXPECT_FALSE(parser.done());
  EXPECT_TRUE(parser.feed_end().has_value());
  EXPECT_FALSE(parser.keep_alive());
}

TEST(ResponseParser, SkipsInterimAnswersButNotForEver) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  ResponseParser parser(1000, false);
  EXPECT_TRUE(feed(parser, interim).used.has_value());
  EXPECT_FALSE(parser.header_done());
  EXPECT_TRUE(feed(parser, interim + "HTTP/1.1 204 No Content\r\n\r\n").used.has_value());
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.status(), 204);

  std::string many;
  for (int i = 0; i < 50; ++i) many += interim;
  ResponseParser patient(1000, false);
  EXPECT_FALSE(feed(patient, many).used.has_value());
}

TEST(ResponseParser, AnAnswerToHeadHasNoBody) {
  ResponseParser parser(1000, true);
  EXPECT_TRUE(feed(parser, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n").used.has_value());
  EXPECT_TRUE(parser.done());
}

TEST(ResponseParser, GarbageIsAnError) {
  ResponseParser parser(1000, false);
  EXPECT_FALSE(feed(parser, "SSH-2.0-OpenSSH\r\n").used.has_value());
  ResponseParser endless(1000, false);
  EXPECT_FALSE(feed(endless, "HTTP/1.1 200 OK\r\nA: " + std::string(2000, 'a')).used.has_value());
  ResponseParser silent(1000, false);
  EXPECT_FALSE(silent.feed_end().has_value());
}

}  // namespace http_parser_test
}  // namespace muster::net
