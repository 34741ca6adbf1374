#include "api/values/sha1.h"

#include <array>
#include <bit>
#include <cstdint>

namespace muster::api {
namespace {

using Word = std::uint32_t;
using State = std::array<Word, 5>;
constexpr std::size_t kBlock = 64;
constexpr State kStart{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

std::array<Word, 80> schedule(std::string_view block) {
  std::array<Word, 80> words{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    words[i / 4] = words[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  }
  for (std::size_t i = 16; i < words.size(); ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  return words;
}

// What the round's quarter adds: its mixture of three words, and its constant.
Word mixed(std::size_t round, Word b, Word c, Word d) {
  switch (round / 20) {
    case 0:
      return ((b & c) | (~b & d)) + 0x5a827999;
    case 1:
      return (b ^ c ^ d) + 0x6ed9eba1;
    case 2:
      return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    default:
      return (b ^ c ^ d) + 0xca62c1d6;
  }
}

void add_block(State& state, std::string_view block) {
  const auto words = schedule(block);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word next = std::rotl(a, 5) + mixed(i, b, c, d) + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const State sum{a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += sum[i];
}

// What is left of the text, a one bit, zeros, and the length in bits.
std::string padded(std::string_view rest, std::size_t length) {
  std::string tail(rest);
  tail += '\x80';
  while (tail.size() % kBlock != kBlock - 8) tail += '\0';
  for (int shift = 56; shift >= 0; shift -= 8)
    tail += static_cast<char>(std::uint64_t{length} * 8 >> shift & 0xFF);
  return tail;
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  State state = kStart;
  const std::size_t length = text.size();
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) add_block(state, text);
  const std::string tail = padded(text, length);
  for (std::string_view rest = tail; !rest.empty(); rest.remove_prefix(kBlock))
    add_block(state, rest);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(40);
  for (const Word word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += kDigits[word >> shift & 0xF];
  }
  return hex;
}

}  // namespace muster::api
