#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace muster {

namespace {

// How many bytes at the beginning are ASCII for certain: most texts are, and eight bytes are looked
// at as one.
std::size_t ascii_words(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t size = 0;
  for (std::uint64_t word = 0; text.size() - size >= sizeof word; size += sizeof word) {
    std::memcpy(&word, text.data() + size, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return size;
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return continues(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (!continues(1) || !continues(2)) return 0;
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead > 0xF4 || !continues(1) || !continues(2) || !continues(3)) return 0;
  const bool overlong = lead == 0xF0 && byte(1) < 0x90;
  const bool beyond = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || beyond ? 0 : 4;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_words(text));
    if (text.empty()) break;
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::uint32_t decode_utf8(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  std::uint32_t code_point = lead & (0x7FU >> sequence.size());
  for (const char c : sequence.substr(1)) code_point = code_point << 6 | (c & 0x3F);
  return code_point;
}

std::string_view cut_utf8(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t size = 0;
  while (true) {
    const std::size_t next = std::max<std::size_t>(1, utf8_sequence_length(text.substr(size)));
    if (size + next > limit) return text.substr(0, size);
    size += next;
  }
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace muster
