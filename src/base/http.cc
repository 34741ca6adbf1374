#include "base/http.h"

#include "base/ascii.h"

namespace muster::http {

std::string_view find_header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (equal_ignoring_case(key, name)) return value;
  return {};
}

void Exchange::upgrade(Upgrade) {
  respond({.status = 501,
           .headers = {{"Content-Type", "text/plain"}},
           .body = {Chunk::literal("no WebSockets on this connection\n")}});
}

}  // namespace muster::http
