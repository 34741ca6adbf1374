// Feeds bytes of a peer to the parsers and to the checks, in steps of any size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_parser.h"
#include "net/request_check.h"

namespace muster::net {
namespace {

constexpr ParseLimits kLimits{.header_bytes = 1024, .body_bytes = 512};

// What a connection does with its input: keeps the unused rest, offers it again with more.
template <class Feed>
std::size_t feed_in_steps(std::string_view bytes, std::size_t step, std::size_t held_limit,
                          const Feed& feed) {
  std::string held;
  std::size_t total = 0;
  while (!bytes.empty()) {
    held += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    const std::optional<std::size_t> used = feed(held);
    if (!used) return total;
    MUSTER_ASSERT(*used <= held.size(), "no more is used than there is");
    held.erase(0, *used);
    total += *used;
    MUSTER_ASSERT(held.size() <= held_limit, "what has to be held is bounded");
  }
  return total;
}

// 8 KiB of chunk extensions or trailers may be held, and what came with the last step.
constexpr std::size_t kMaxHeld = 10 * 1024;

std::optional<http::Request> parse_request(std::string_view bytes, std::size_t step) {
  RequestParser parser(kLimits);
  feed_in_steps(bytes, step, kMaxHeld + step,
                [&](std::string_view held) -> std::optional<std::size_t> {
                  if (parser.done()) return std::nullopt;
                  const auto used = parser.feed(held);
                  if (!used) return std::nullopt;
                  return *used;
                });
  MUSTER_ASSERT(parser.request().body.size() <= kLimits.body_bytes, "bodies are bounded");
  if (!parser.done()) return std::nullopt;
  http::Request& request = parser.request();
  MUSTER_ASSERT(
      request.body.empty() || request.body.capacity() >= request.body.size() + kBodyPadding,
      "bodies are padded");
  static const RequestCheck* const check = new RequestCheck({"localhost", "127.0.0.1"});
  if (const auto refusal = (*check)(request, parser.is_http_1_0())) {
    MUSTER_ASSERT(refusal->status >= 400 && !response_of(*refusal).body.empty(), "says why");
  }
  return std::move(request);
}

void parse_response(std::string_view bytes, std::size_t step, bool to_head) {
  ResponseParser parser(kLimits.header_bytes, to_head);
  feed_in_steps(bytes, step, kMaxHeld + step,
                [&](std::string_view held) -> std::optional<std::size_t> {
                  if (parser.done()) return std::nullopt;
                  const auto used = parser.feed(held, [](std::string_view) {});
                  if (!used) return std::nullopt;
                  return *used;
                });
  if (!parser.done()) (void)parser.feed_end();
}

}  // namespace
}  // namespace muster::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::net;
  if (size < 2) return 0;
  const std::size_t step = 1 + data[0] % 64;
  const bool to_head = data[1] % 2 == 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto whole = parse_request(bytes, bytes.size() + 1);
  const auto cut = parse_request(bytes, step);
  if (whole && cut) {
    MUSTER_ASSERT(whole->method == cut->method && whole->target == cut->target &&
                      whole->headers == cut->headers && whole->body == cut->body,
                  "a request does not depend on how it is cut");
  }
  parse_response(bytes, step, to_head);
  return 0;
}
