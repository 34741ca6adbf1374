#include "net/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing_frames.h"

namespace muster::net {
namespace websocket_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kMax = 100'000;

struct Read {
  std::vector<std::string> events;  // "2:payload"
  int error = 0;
};

Read read_all(std::string_view bytes, std::size_t step = 1) {
  FrameReader reader(kMax);
  Read read;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    for (;;) {
      const auto event = reader.next(piece);
      if (!event) {
        read.error = static_cast<int>(event.error());
        return read;
      }
      if (!*event) break;
      read.events.push_back(
          fmt::format("{}:{}", static_cast<int>((*event)->opcode), (*event)->payload));
    }
    EXPECT_TRUE(piece.empty());
  }
  return read;
}

TEST(WebSocket, AnswersTheKeyOfTheStandard) {
  EXPECT_EQ(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocket, FramesHaveTheShortestLength) {
  EXPECT_EQ(frame_head(Opcode::kBinary, 125), "\x82\x7d");
  EXPECT_EQ(frame_head(Opcode::kBinary, 126), std::string("\x82\x7e\x00\x7e", 4));
  EXPECT_EQ(frame_head(Opcode::kPong, 0), std::string("\x8a\x00", 2));
  EXPECT_EQ(frame_head(Opcode::kBinary, 65536),
            std::string("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
  EXPECT_EQ(close_frame(CloseCode::kNormal), "\x88\x02\x03\xe8");
}

TEST(WebSocket, ReadsTheExampleOfTheStandard) {
  EXPECT_THAT(read_all("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58").events,
              ElementsAre("1:Hello"));
}

TEST(WebSocket, MessagesOfEveryLengthFormAreReadInStepsOfAnySize) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 65'535U, 65'536U, 100'000U}) {
    const std::string payload(size, 'x');
    const std::string bytes = frame(Opcode::kBinary, payload) + frame(Opcode::kText, "next");
    for (const std::size_t step : {1UL, 7UL, bytes.size()})
      EXPECT_THAT(read_all(bytes, step).events, ElementsAre("2:" + payload, "1:next")) << size;
  }
}

TEST(WebSocket, FragmentsAreJoinedAndControlFramesMayComeBetween) {
  const std::string bytes =
      frame(Opcode::kText, "one ", {.final = false}) + frame(Opcode::kPing, "?") +
      frame(Opcode::kContinuation, "two ", {.final = false}) + frame(Opcode::kPong, "") +
      frame(Opcode::kContinuation, "three") + frame(Opcode::kClose, "\x03\xe8 bye");
  EXPECT_THAT(read_all(bytes).events,
              ElementsAre("9:?", "10:", "1:one two three", "8:\x03\xe8 bye"));
}

TEST(WebSocket, WhatTheStandardForbidsEndsTheConnection) {
  const int protocol = 1002, too_big = 1009;
  struct Case {
    const char* what;
    std::string bytes;
    int error;
  };
  const Case cases[] = {
      {"not masked", frame(Opcode::kBinary, "x", {.masked = false}), protocol},
      {"reserved bit", frame(Opcode::kBinary, "x", {.reserved = true}), protocol},
      {"unknown opcode", frame(static_cast<Opcode>(3), "x"), protocol},
      {"unknown control", frame(static_cast<Opcode>(11), "x"), protocol},
      {"continues nothing", frame(Opcode::kContinuation, "x"), protocol},
      {"begins within a message",
       frame(Opcode::kText, "x", {.final = false}) + frame(Opcode::kText, "y"), protocol},
      {"ping in pieces", frame(Opcode::kPing, "x", {.final = false}), protocol},
      {"long ping", frame(Opcode::kPing, std::string(126, 'x')), protocol},
      {"length longer than needed", std::string("\x82\xfe\x00\x05", 4) + "mask", protocol},
      {"length much longer than needed",
       std::string("\x82\xff\x00\x00\x00\x00\x00\x00\xff\xff", 10) + "mask", protocol},
      {"half a close code", frame(Opcode::kClose, "\x03"), protocol},
      {"close code that is never sent", frame(Opcode::kClose, "\x03\xee"), protocol},
      {"too long", frame(Opcode::kBinary, std::string(kMax + 1, 'x')), too_big},
      {"endless", std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10) + "mask", too_big},
      {"too long in pieces",
       frame(Opcode::kBinary, std::string(kMax, 'x'), {.final = false}) +
           frame(Opcode::kContinuation, "y"),
       too_big},
  };
  for (const Case& c : cases) {
    const Read read = read_all(c.bytes);
    EXPECT_EQ(read.error, c.error) << c.what;
    EXPECT_THAT(read.events, IsEmpty()) << c.what;
  }
}

}  // namespace websocket_test
}  // namespace muster::net
