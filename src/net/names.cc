#include "net/names.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace muster::net {
namespace {

bool is_port(std::string_view text) {
  return text.size() <= 5 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const char l = lower_case(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

std::string address_bytes(const std::string& text) {
  std::array<char, 16> bytes;
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
  return {};
}

std::string address_text(std::string_view bytes) {
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  std::array<char, INET6_ADDRSTRLEN> text;
  return inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
}

std::string canonical_name(std::string_view name) {
  std::string text(name);
  if (const std::string bytes = address_bytes(text); !bytes.empty()) return address_text(bytes);
  return lower_case(text);
}

std::string host_of_authority(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = authority.substr(end + 1);
    const std::string address(authority.substr(1, end - 1));
    const bool port_fits = rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
    return port_fits && address_bytes(address).size() == 16 ? canonical_name(address) : "";
  }
  const std::size_t colon = authority.find(':');
  const std::string_view host = authority.substr(0, colon);
  if (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))) return {};
  return is_name(host) ? canonical_name(host) : "";
}

}  // namespace muster::net
