// CRC-32C (Castagnoli), the checksum of rows on disk: finds every burst of up to 32 flipped bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster::store {

// Continues from an earlier value: crc32c(b, crc32c(a)) == crc32c(a + b).
std::uint32_t crc32c(std::string_view bytes, std::uint32_t so_far = 0);

}  // namespace muster::store
