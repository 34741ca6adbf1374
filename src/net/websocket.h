// The bytes of WebSockets (RFC 6455), the server's side: no sockets, no extensions. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

enum class Opcode : std::uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

enum class CloseCode : std::uint16_t {
  kNormal = 1000,
  kProtocolError = 1002,
  kTooBig = 1009,
};

// The answer to a Sec-WebSocket-Key.
std::string websocket_accept(std::string_view key);

// What stands before the payload of a whole, unmasked frame.
std::string frame_head(Opcode opcode, std::size_t payload_bytes);
std::string close_frame(CloseCode code);

// Reads the frames of a client and puts messages together. Holds at most one message and what
// belongs to one control frame.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_message_bytes) : max_message_bytes_(max_message_bytes) {}

  struct Event {
    Opcode opcode;             // kText or kBinary for a whole message, else a control frame
    std::string_view payload;  // until the next call
  };
  // Uses up the bytes to the end of the next event; nothing if they are used up before it. An error
  // is the code to close with, and the last that may be asked for.
  std::expected<std::optional<Event>, CloseCode> next(std::string_view& bytes);

 private:
  bool is_control() const { return static_cast<std::uint8_t>(opcode_) >= 8; }
  bool fill_head(std::string_view& bytes, std::size_t size);
  std::expected<bool, CloseCode> read_head(std::string_view& bytes);
  std::optional<CloseCode> begin_payload(std::uint64_t length);
  void read_payload(std::string_view& bytes);
  std::optional<CloseCode> check_close() const;
  std::string& target() { return is_control() ? control_ : message_; }

  const std::size_t max_message_bytes_;

  std::array<unsigned char, 14> head_{};  // the longest there is
  std::size_t head_filled_ = 0;

  // Of the frame whose head is complete.
  bool in_payload_ = false;
  bool final_ = false;
  Opcode opcode_ = Opcode::kContinuation;
  std::array<unsigned char, 4> mask_{};
  std::size_t masked_ = 0;  // bytes of the payload read so far
  std::uint64_t payload_left_ = 0;

  std::optional<Opcode> message_opcode_;  // a message has begun
  std::string message_;
  std::string control_;
  bool delivered_ = false;  // the message or control frame at hand was the last event
};

}  // namespace muster::net
