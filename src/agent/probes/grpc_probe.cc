#include "agent/probes/grpc_probe.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "agent/probes/hpack.h"
#include "base/duration.h"

namespace muster::agent {
namespace {

// RFC 9113.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kFrameHeader = 9;
constexpr std::size_t kMaxFrame = 16 * 1024;   // what a peer may send without asking
constexpr std::size_t kMaxAnswer = 64 * 1024;  // of all frames together; a health is a few bytes
constexpr std::uint32_t kStream = 1;

enum class Frame : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPush = 5,
  kPing = 6,
  kGoAway = 7,
  kContinuation = 9,
};
constexpr std::uint8_t kEndStream = 0x1;  // of data and headers
constexpr std::uint8_t kAck = 0x1;        // of settings and pings
constexpr std::uint8_t kEndHeaders = 0x4;
constexpr std::uint8_t kPadded = 0x8;
constexpr std::uint8_t kPriority = 0x20;

constexpr std::array<std::string_view, 17> kCodes = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};
constexpr std::size_t kUnknownCode = 2;
constexpr std::size_t kUnimplemented = 12;
constexpr std::size_t kInternal = 13;
constexpr std::size_t kUnavailable = 14;

constexpr std::array<std::string_view, 4> kHealth = {"UNKNOWN", "SERVING", "NOT_SERVING",
                                                     "SERVICE_UNKNOWN"};
constexpr std::uint64_t kServing = 1;

std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

std::uint32_t read_number(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<std::uint8_t>(c);
  return value;
}

std::string frame(Frame type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string out = big_endian(payload.size(), 3);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out += big_endian(stream, 4);
  return out.append(payload);
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 128; value /= 128) out += static_cast<char>(value % 128 | 128);
  return out += static_cast<char>(value);
}

std::optional<std::uint64_t> read_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in[0]);
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 127U} << shift;
    if (byte < 128) return value;
  }
  return std::nullopt;
}

// HealthCheckRequest{service} and HealthCheckResponse{status}: field 1 of each. What a server of
// a later version adds behind it is none of ours.
std::string request_message(const std::string& service) {
  const std::string body = service.empty() ? "" : "\x0a" + varint(service.size()) + service;
  return big_endian(0, 1) + big_endian(body.size(), 4) + body;
}
std::optional<std::uint64_t> health_in(std::string_view message) {
  if (message.empty()) return 0;
  if (message[0] != 0x08) return std::nullopt;
  message.remove_prefix(1);
  return read_varint(message);
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::uint8_t byte = 0;
    const bool escape = text.size() > 2 && text[0] == '%' &&
                        std::from_chars(&text[1], &text[1] + 2, byte, 16).ptr == &text[1] + 2;
    out += escape ? static_cast<char>(byte) : text[0];
    text.remove_prefix(escape ? 3 : 1);
  }
  return out;
}

class GrpcProtocol final : public Protocol {
 public:
  explicit GrpcProtocol(GrpcCheck check) : check_(std::move(check)) {}

  std::optional<ProbeOutcome> connected(std::string& say) override {
    connected_ = true;
    say += kPreface;
    // No table of headers (1: 0), nothing pushed (2: 0).
    say += frame(Frame::kSettings, 0, 0,
                 big_endian(1, 2) + big_endian(0, 4) + big_endian(2, 2) + big_endian(0, 4));
    std::string headers;
    append_header(headers, ":method", "POST");
    append_header(headers, ":scheme", "http");
    append_header(headers, ":path", "/grpc.health.v1.Health/Check");
    append_header(headers, ":authority", check_.address);
    append_header(headers, "content-type", "application/grpc");
    append_header(headers, "user-agent", check_.user_agent);
    append_header(headers, "te", "trailers");
    say += frame(Frame::kHeaders, kEndHeaders, kStream, headers);
    say += frame(Frame::kData, kEndStream, kStream, request_message(check_.service));
    return std::nullopt;
  }

  std::optional<ProbeOutcome> heard(std::string_view bytes, std::string& say) override {
    heard_bytes_ += bytes.size();
    if (heard_bytes_ > kMaxAnswer) return rpc_failed(kInternal, "the answer is too long");
    input_ += bytes;
    while (input_.size() >= kFrameHeader) {
      const std::size_t length = read_number(std::string_view(input_).substr(0, 3));
      const auto type = static_cast<Frame>(input_[3]);
      if (length > kMaxFrame || (!greeted_ && type != Frame::kSettings)) return not_http2();
      if (input_.size() < kFrameHeader + length) return std::nullopt;
      greeted_ = true;
      const std::string whole = input_.substr(0, kFrameHeader + length);
      input_.erase(0, whole.size());
      if (auto outcome = take(whole, say)) return outcome;
    }
    return std::nullopt;
  }

  ProbeOutcome ended(End how, std::string_view why) override {
    if (how == End::kUnreachable) return no_connection(why);
    if (how == End::kLost) {
      if (!greeted_) return not_http2();
      return rpc_failed(kUnavailable, why.empty() ? "error reading from server: EOF" : why);
    }
    if (!connected_) {
      return failed(fmt::format(
          "timeout: failed to connect service \"{}\" within {}: context deadline exceeded",
          check_.address, duration_text(check_.timeout)));
    }
    return failed(fmt::format("timeout: health rpc did not complete within {}",
                              duration_text(check_.timeout)));
  }

 private:
  std::optional<ProbeOutcome> take(std::string_view whole, std::string& say) {
    const auto type = static_cast<Frame>(whole[3]);
    const auto flags = static_cast<std::uint8_t>(whole[4]);
    const std::uint32_t stream = read_number(whole.substr(5, 4)) & 0x7FFFFFFF;
    std::string_view payload = whole.substr(kFrameHeader);
    switch (type) {
      case Frame::kSettings:
        if ((flags & kAck) == 0) say += frame(Frame::kSettings, kAck, 0, "");
        return std::nullopt;
      case Frame::kPing:
        if ((flags & kAck) == 0) say += frame(Frame::kPing, kAck, 0, payload);
        return std::nullopt;
      case Frame::kGoAway:
        return rpc_failed(kUnavailable, "the server is going away");
      case Frame::kPush:
        return rpc_failed(kInternal, "the server pushes what nobody asked for");
      case Frame::kReset:
        return stream == kStream ? rpc_failed(kInternal, "the server has reset the call")
                                 : std::optional<ProbeOutcome>();
      case Frame::kHeaders:
      case Frame::kData:
      case Frame::kContinuation:
        break;
      default:
        return std::nullopt;  // window updates, priorities and what may be invented yet
    }
    if (stream != kStream || !strip_padding(type, flags, payload)) {
      return rpc_failed(kInternal, "the server does not keep to HTTP/2");
    }
    if (type == Frame::kData) {
      message_ += payload;
      return (flags & kEndStream) != 0 ? std::optional(judge()) : std::nullopt;
    }
    return take_headers(type, flags, payload);
  }

  static bool strip_padding(Frame type, std::uint8_t flags, std::string_view& payload) {
    if (type == Frame::kContinuation) return true;
    std::size_t padding = 0;
    if ((flags & kPadded) != 0) {
      if (payload.empty()) return false;
      padding = static_cast<std::uint8_t>(payload[0]);
      payload.remove_prefix(1);
    }
    const std::size_t priority = type == Frame::kHeaders && (flags & kPriority) != 0 ? 5 : 0;
    if (payload.size() < padding + priority) return false;
    payload.remove_suffix(padding);
    payload.remove_prefix(priority);
    return true;
  }

  std::optional<ProbeOutcome> take_headers(Frame type, std::uint8_t flags,
                                           std::string_view payload) {
    if (type == Frame::kHeaders) ends_ = (flags & kEndStream) != 0;
    block_ += payload;
    if ((flags & kEndHeaders) == 0) return std::nullopt;
    const auto fields = read_headers(block_);
    block_.clear();
    if (!fields) return rpc_failed(kInternal, fields.error().message);
    for (const HeaderField& field : *fields) {
      if (field.name == ":status") http_status_ = field.value;
      if (field.name == "grpc-status") grpc_status_ = field.value;
      if (field.name == "grpc-message") grpc_message_ = percent_decoded(field.value);
    }
    return ends_ ? std::optional(judge()) : std::nullopt;
  }

  ProbeOutcome judge() const {
    if (http_status_ != "200") {
      return rpc_failed(http_status_ == "404" ? kUnimplemented : kUnknownCode,
                        "unexpected HTTP status code received from server: " + http_status_);
    }
    if (grpc_status_ != "0") {
      std::size_t code = kUnknownCode;
      std::from_chars(grpc_status_.data(), grpc_status_.data() + grpc_status_.size(), code);
      return rpc_failed(code, grpc_message_);
    }
    return judge_message();
  }

  ProbeOutcome judge_message() const {
    constexpr std::size_t kPrefix = 5;  // compressed or not, then the length
    const std::string_view all = message_;
    if (all.size() < kPrefix || all[0] != 0 ||
        read_number(all.substr(1, 4)) != all.size() - kPrefix) {
      return rpc_failed(kInternal, "the server sent no message that can be read");
    }
    const auto health = health_in(all.substr(kPrefix));
    if (!health) return rpc_failed(kInternal, "the server sent no message that can be read");
    if (*health == kServing) return {ProbeResult::kSuccess, "service healthy"};
    return failed(fmt::format(
        "service unhealthy (responded with \"{}\")",
        *health < kHealth.size() ? std::string(kHealth[*health]) : std::to_string(*health)));
  }

  static ProbeOutcome failed(std::string text) { return {ProbeResult::kFailure, std::move(text)}; }

  ProbeOutcome no_connection(std::string_view why) const {
    return failed(
        fmt::format("error: failed to connect service at \"{}\": {}", check_.address, why));
  }
  ProbeOutcome not_http2() const { return no_connection("the server does not speak HTTP/2"); }

  static ProbeOutcome rpc_failed(std::size_t code, std::string_view why) {
    if (code == kUnimplemented) {
      return failed(
          fmt::format("error: this server does not implement the grpc health protocol "
                      "(grpc.health.v1.Health): {}",
                      why));
    }
    const std::string name =
        code < kCodes.size() ? std::string(kCodes[code]) : fmt::format("Code({})", code);
    return failed(
        fmt::format("error: health rpc probe failed: rpc error: code = {} desc = {}", name, why));
  }

  const GrpcCheck check_;
  bool connected_ = false;
  bool greeted_ = false;  // the server's first frame has come
  std::size_t heard_bytes_ = 0;
  std::string input_;  // the beginning of a frame
  std::string block_;  // the beginning of a header block
  bool ends_ = false;  // the stream, with the present header block
  std::string http_status_;
  std::string grpc_status_;
  std::string grpc_message_;
  std::string message_;
};

}  // namespace

std::unique_ptr<Protocol> make_grpc_protocol(GrpcCheck check) {
  return std::make_unique<GrpcProtocol>(std::move(check));
}

}  // namespace muster::agent
