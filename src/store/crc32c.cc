#include "store/crc32c.h"

#include <array>
#include <cstring>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace muster::store {
namespace {

#ifdef __SSE4_2__

std::uint32_t extend(std::uint32_t state, std::string_view bytes) {
  std::uint64_t wide = state;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    wide = _mm_crc32_u64(wide, word);
    bytes.remove_prefix(sizeof(word));
  }
  state = static_cast<std::uint32_t>(wide);
  for (const char byte : bytes) state = _mm_crc32_u8(state, static_cast<unsigned char>(byte));
  return state;
}

#else

constexpr std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? kReversedPolynomial : 0);
    table[i] = value;
  }
  return table;
}
constexpr auto kTable = make_table();

std::uint32_t extend(std::uint32_t state, std::string_view bytes) {
  for (const char byte : bytes) {
    state = (state >> 8) ^ kTable[(state ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return state;
}

#endif

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t so_far) {
  return ~extend(~so_far, bytes);
}

}  // namespace muster::store
