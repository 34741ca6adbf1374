#include "api/values/base64.h"

#include <array>
#include <cstdint>

namespace muster::api {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

bool is_line_break(char c) { return c == '\n' || c == '\r'; }

std::size_t skip_line_breaks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_line_break(text[at])) ++at;
  return at;
}

void append_bytes(std::string& out, std::uint32_t bits, int count) {
  for (int i = 0; i < count; ++i) out.push_back(static_cast<char>(bits >> (16 - 8 * i)));
}

// What follows the first '=' of a group that has `digits` digits: one or two '=' in all, then
// nothing.
std::expected<void, std::size_t> check_padding(std::string_view text, std::size_t at, int digits) {
  if (digits < 2) return std::unexpected(at - 1);
  at = skip_line_breaks(text, at);
  if (digits == 2) {
    if (at == text.size()) return std::unexpected(at);
    if (text[at] != '=') return std::unexpected(at - 1);
    at = skip_line_breaks(text, at + 1);
  }
  if (at < text.size()) return std::unexpected(at);
  return {};
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out.push_back(i <= count ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=');
    }
  }
  return out;
}

std::expected<std::string, std::size_t> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int digits = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at++];
    if (is_line_break(c)) continue;
    if (c == '=') {
      if (auto padding = check_padding(text, at, digits); !padding)
        return std::unexpected(padding.error());
      append_bytes(out, bits << (6 * (4 - digits)), digits - 1);
      return out;
    }
    const std::uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) return std::unexpected(at - 1);
    bits = bits << 6 | digit;
    if (++digits == 4) {
      append_bytes(out, bits, 3);
      bits = 0;
      digits = 0;
    }
  }
  if (digits != 0) return std::unexpected(at - static_cast<std::size_t>(digits));
  return out;
}

}  // namespace muster::api
