#include "base/websocket.h"

#include <algorithm>

#include "base/ascii.h"

namespace muster::http {
namespace {

constexpr std::string_view kVersion = "13";
constexpr std::size_t kKeyLetters = 24;  // 16 bytes in base64

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The elements of a header that is a list, however many lines it has.
std::vector<std::string_view> elements(const Headers& headers, std::string_view name) {
  std::vector<std::string_view> found;
  for (const auto& [key, value] : headers) {
    if (!equal_ignoring_case(key, name)) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const auto element = trimmed(rest.substr(0, comma)); !element.empty())
        found.push_back(element);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return found;
}

bool has_element(const Headers& headers, std::string_view name, std::string_view wanted) {
  return std::ranges::any_of(elements(headers, name), [&](std::string_view element) {
    return equal_ignoring_case(element, wanted);
  });
}

bool is_base64_of_16_bytes(std::string_view text) {
  if (text.size() != kKeyLetters || !text.ends_with("==")) return false;
  return std::ranges::all_of(text.substr(0, kKeyLetters - 2), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
}

}  // namespace

bool wants_upgrade(const Request& request) {
  return has_element(request.headers, "Connection", "upgrade") &&
         !find_header(request.headers, "Upgrade").empty();
}

bool wants_websocket(const Request& request) {
  return wants_upgrade(request) && has_element(request.headers, "Upgrade", "websocket");
}

Status check_websocket_request(const Request& request) {
  if (request.method != "GET") return fail(Code::kBadRequest, "a WebSocket is opened by a GET");
  if (!wants_websocket(request)) return fail(Code::kBadRequest, "Upgrade request required");
  if (find_header(request.headers, "Sec-WebSocket-Version") != kVersion)
    return fail(Code::kBadRequest, "Sec-WebSocket-Version has to be 13");
  if (!is_base64_of_16_bytes(find_header(request.headers, "Sec-WebSocket-Key")))
    return fail(Code::kBadRequest, "Sec-WebSocket-Key has to be 16 bytes in base64");
  return {};
}

std::vector<std::string_view> offered_protocols(const Request& request) {
  return elements(request.headers, "Sec-WebSocket-Protocol");
}

}  // namespace muster::http
