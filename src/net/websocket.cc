#include "net/websocket.h"

#include <algorithm>

#include "base/base64.h"
#include "base/digest.h"
#include "base/result.h"

namespace muster::net {
namespace {

constexpr std::string_view kAcceptSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kMaxControlBytes = 125;
constexpr std::size_t kMaskBytes = 4;
// A message larger than this gives its room back.
constexpr std::size_t kKeptCapacity = 64 * 1024;

constexpr unsigned char kFinal = 0x80;
constexpr unsigned char kReserved = 0x70;
constexpr unsigned char kMasked = 0x80;
constexpr unsigned char kLength16 = 126;
constexpr unsigned char kLength64 = 127;

bool is_known(unsigned opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

std::uint64_t big_endian(const unsigned char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

void append_big_endian(std::string& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = count; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

std::size_t length_bytes(unsigned char second) {
  const unsigned short_length = second & 0x7F;
  return short_length == kLength16 ? 2 : short_length == kLength64 ? 8 : 0;
}

// What a peer may give as its reason (RFC 6455, 7.4).
bool is_close_code(std::uint64_t code) {
  return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace

std::string websocket_accept(std::string_view key) {
  return encode_base64(digest(DigestKind::kSha1, std::string(key).append(kAcceptSalt)));
}

std::string frame_head(Opcode opcode, std::size_t payload_bytes) {
  std::string head(1, static_cast<char>(kFinal | static_cast<unsigned char>(opcode)));
  if (payload_bytes < kLength16) {
    head += static_cast<char>(payload_bytes);
  } else if (payload_bytes <= 0xFFFF) {
    head += static_cast<char>(kLength16);
    append_big_endian(head, payload_bytes, 2);
  } else {
    head += static_cast<char>(kLength64);
    append_big_endian(head, payload_bytes, 8);
  }
  return head;
}

std::string close_frame(CloseCode code) {
  std::string frame = frame_head(Opcode::kClose, 2);
  append_big_endian(frame, static_cast<std::uint16_t>(code), 2);
  return frame;
}

std::expected<std::optional<FrameReader::Event>, CloseCode> FrameReader::next(
    std::string_view& bytes) {
  if (std::exchange(delivered_, false)) {
    target().clear();
    if (target().capacity() > kKeptCapacity) target() = {};
  }
  for (;;) {
    if (!in_payload_) {
      const auto complete = read_head(bytes);
      if (!complete) return std::unexpected(complete.error());
      if (!*complete) return std::nullopt;
    }
    read_payload(bytes);
    if (payload_left_ > 0) return std::nullopt;
    in_payload_ = false;
    if (!is_control() && !final_) continue;
    if (opcode_ == Opcode::kClose) {
      if (const auto fault = check_close()) return std::unexpected(*fault);
    }
    delivered_ = true;
    if (is_control()) return Event{opcode_, control_};
    return Event{*std::exchange(message_opcode_, std::nullopt), message_};
  }
}

bool FrameReader::fill_head(std::string_view& bytes, std::size_t size) {
  while (head_filled_ < size && !bytes.empty()) {
    head_[head_filled_++] = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
  }
  return head_filled_ >= size;
}

// False if more bytes are needed.
std::expected<bool, CloseCode> FrameReader::read_head(std::string_view& bytes) {
  if (!fill_head(bytes, 2)) return false;
  const unsigned opcode = head_[0] & 0x0F;
  if ((head_[0] & kReserved) != 0 || !is_known(opcode) || (head_[1] & kMasked) == 0)
    return std::unexpected(CloseCode::kProtocolError);
  const std::size_t extended = length_bytes(head_[1]);
  if (!fill_head(bytes, 2 + extended + kMaskBytes)) return false;
  const std::uint64_t length = extended == 0 ? head_[1] & 0x7F : big_endian(&head_[2], extended);
  const bool shortest = extended == 0 || (extended == 2 && length >= kLength16) || length > 0xFFFF;
  if (!shortest) return std::unexpected(CloseCode::kProtocolError);
  final_ = (head_[0] & kFinal) != 0;
  opcode_ = static_cast<Opcode>(opcode);
  std::copy_n(&head_[2 + extended], kMaskBytes, mask_.begin());
  head_filled_ = 0;
  if (const auto fault = begin_payload(length)) return std::unexpected(*fault);
  return true;
}

std::optional<CloseCode> FrameReader::begin_payload(std::uint64_t length) {
  if (is_control()) {
    if (!final_ || length > kMaxControlBytes) return CloseCode::kProtocolError;
  } else {
    const bool continues = opcode_ == Opcode::kContinuation;
    if (continues != message_opcode_.has_value()) return CloseCode::kProtocolError;
    if (!continues) message_opcode_ = opcode_;
    if (length > max_message_bytes_ - message_.size()) return CloseCode::kTooBig;
  }
  in_payload_ = true;
  masked_ = 0;
  payload_left_ = length;
  return std::nullopt;
}

void FrameReader::read_payload(std::string_view& bytes) {
  const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(payload_left_, bytes.size()));
  std::string& out = target();
  const std::size_t begin = out.size();
  out.append(bytes.substr(0, step));
  for (std::size_t i = 0; i < step; ++i)
    out[begin + i] = static_cast<char>(out[begin + i] ^ mask_[(masked_ + i) % kMaskBytes]);
  bytes.remove_prefix(step);
  masked_ += step;
  payload_left_ -= step;
}

std::optional<CloseCode> FrameReader::check_close() const {
  if (control_.empty()) return std::nullopt;
  if (control_.size() < 2) return CloseCode::kProtocolError;
  const auto* bytes = reinterpret_cast<const unsigned char*>(control_.data());
  return is_close_code(big_endian(bytes, 2)) ? std::nullopt
                                             : std::optional(CloseCode::kProtocolError);
}

}  // namespace muster::net
