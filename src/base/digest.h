// Hashes of OpenSSL's libcrypto (FIPS 180-4) for names, labels, ETags and fingerprints. Signatures
// and secrets are the business of net/. Safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

enum class DigestKind : std::uint8_t { kSha1, kSha256, kSha512 };

std::string digest(DigestKind kind, std::string_view text);  // bytes: 20, 32 or 64
std::string hex_digest(DigestKind kind,
                       std::string_view text);  // the same in lower-case hexadecimal digits

}  // namespace muster
