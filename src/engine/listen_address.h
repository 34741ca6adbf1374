// ADDR:PORT as given to --listen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::engine {

struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
  bool loopback() const;
  bool any() const { return address == "0.0.0.0" || address == "::"; }  // all of the machine's
};

// "127.0.0.1:6443", "[::1]:0", ":6443" (loopback). Fails with what is wrong with that flag.
Result<ListenAddress> parse_listen(std::string_view text, std::string_view flag = "--listen");

}  // namespace muster::engine
