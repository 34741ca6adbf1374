// SHA-512 (FIPS 180-4), for the ETags of documents that are built once. Not for secrets: those are
// hashed by OpenSSL in net/.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::api {

std::array<std::uint8_t, 64> sha512(std::string_view text);
std::string sha512_hex(std::string_view text);  // upper case

}  // namespace muster::api
