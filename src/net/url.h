// Addresses of what is asked for: https://host:port/path?query.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::net {

struct Url {
  bool tls = true;
  std::string host;  // a name or a numeric address, IPv6 without brackets
  std::uint16_t port = 443;
  std::string target = "/";  // path and query

  std::string authority() const;  // for the Host header
  std::string endpoint() const;   // what can share a connection
};

// Neither user names nor fragments are understood: they have no place in an API server's address.
Result<Url> parse_url(std::string_view text);

}  // namespace muster::net
