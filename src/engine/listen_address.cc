#include "engine/listen_address.h"

#include <fmt/format.h>

#include "base/number.h"

namespace muster::engine {

bool ListenAddress::loopback() const { return address.starts_with("127.") || address == "::1"; }

Result<ListenAddress> parse_listen(std::string_view text, std::string_view flag) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return fail(Code::kInvalid, fmt::format("{}: \"{}\" is not ADDRESS:PORT", flag, text));
  };
  if (colon == std::string_view::npos) return wrong();
  ListenAddress out{.address = std::string(text.substr(0, colon))};
  const auto port = parse_number<decltype(out.port)>(text.substr(colon + 1));
  if (!port) return wrong();
  out.port = *port;
  if (out.address.starts_with('[') && out.address.ends_with(']')) {
    out.address = out.address.substr(1, out.address.size() - 2);
  } else if (out.address.find(':') != std::string::npos) {
    return wrong();
  }
  if (out.address.empty() || out.address == "localhost") out.address = "127.0.0.1";
  return out;
}

}  // namespace muster::engine
