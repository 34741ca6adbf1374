#include "net/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "net/names.h"

namespace muster::net {
namespace {

constexpr std::uint16_t default_port(bool tls) { return tls ? 443 : 80; }

std::string bracketed(const std::string& host) {
  return host.contains(':') ? "[" + host + "]" : host;
}

// What follows the host in the authority: nothing, or a colon and a port.
bool read_port(std::string_view text, std::uint16_t& port) {
  if (text.empty()) return true;
  if (!text.starts_with(':')) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, port);
  return error == std::errc() && stop == end && port != 0;
}

}  // namespace

std::string Url::authority() const {
  return port == default_port(tls) ? bracketed(host) : fmt::format("{}:{}", bracketed(host), port);
}

std::string Url::endpoint() const {
  return fmt::format("{}://{}:{}", tls ? "https" : "http", bracketed(host), port);
}

Result<Url> parse_url(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::kBadRequest,
                fmt::format("\"{}\" is not an address of the form https://host:port/path", text));
  };
  Url url;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return bad();
  const std::string_view scheme = text.substr(0, colon);
  if (scheme != "https" && scheme != "http") return bad();
  url.tls = scheme == "https";
  url.port = default_port(url.tls);

  const std::string_view rest = text.substr(colon + 3);
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  url.host = host_of_authority(authority);
  const std::size_t bracket = authority.rfind(']');
  const std::size_t host_end = bracket != std::string_view::npos
                                   ? bracket + 1
                                   : std::min(authority.find(':'), authority.size());
  if (url.host.empty() || !read_port(authority.substr(host_end), url.port)) return bad();

  const std::string_view target = rest.substr(slash);
  const auto is_plain = [](char c) { return c > 0x20 && c < 0x7f && c != '#'; };
  if (!std::ranges::all_of(target, is_plain)) return bad();
  if (!target.empty()) url.target = target.starts_with('/') ? target : fmt::format("/{}", target);
  return url;
}

}  // namespace muster::net
