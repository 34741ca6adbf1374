#include "server/base64url.h"

namespace muster::server {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kAlphabet[bits << (6 - count) & 63];
  return out;
}

Result<std::string> base64url_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  const auto illegal = [](std::size_t at) {
    return fail(Code::kBadRequest, fmt::format("illegal base64 data at input byte {}", at));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kAlphabet.find(text[i]);
    if (digit == std::string_view::npos) return illegal(i);
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 255);
    }
  }
  if (text.size() % 4 == 1) return illegal(text.size() - 1);
  return out;
}

}  // namespace muster::server
