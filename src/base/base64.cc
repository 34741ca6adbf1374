#include "base/base64.h"

#include <array>
#include <cstdint>

namespace muster {
namespace {

constexpr std::uint8_t kNoDigit = 0xff;

struct Alphabet {
  constexpr explicit Alphabet(std::string_view its_letters) : letters(its_letters) {
    digits.fill(kNoDigit);
    for (std::size_t i = 0; i < letters.size(); ++i)
      digits[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
  }
  std::uint8_t digit(char letter) const { return digits[static_cast<unsigned char>(letter)]; }

  std::string_view letters;
  std::array<std::uint8_t, 256> digits{};
};
constexpr Alphabet kStandard("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
constexpr Alphabet kForUrls("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

std::string encode(std::string_view bytes, const Alphabet& alphabet) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i <= count; ++i)
      out.push_back(alphabet.letters[bits >> (18 - 6 * i) & 63]);
  }
  return out;
}

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
  std::string out = encode(bytes, kStandard);
  out.append((4 - out.size() % 4) % 4, '=');
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
    const std::uint8_t digit = kStandard.digit(c);
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

std::string encode_base64url(std::string_view bytes) { return encode(bytes, kForUrls); }

std::expected<std::string, std::size_t> decode_base64url(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint8_t digit = kForUrls.digit(text[i]);
    if (digit == kNoDigit) return std::unexpected(i);
    bits = bits << 6 | digit;
    if ((count += 6) < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 255));
  }
  if (text.size() % 4 == 1) return std::unexpected(text.size() - 1);
  return out;
}

}  // namespace muster
