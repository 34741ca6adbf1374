#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <iterator>

#include "base/result.h"

namespace muster {
namespace {

const EVP_MD* algorithm(DigestKind kind) {
  switch (kind) {
    case DigestKind::kSha1:
      return EVP_sha1();
    case DigestKind::kSha256:
      return EVP_sha256();
    case DigestKind::kSha512:
      return EVP_sha512();
  }
  MUSTER_ASSERT(false, "every kind of digest has an algorithm");
}

}  // namespace

std::string digest(DigestKind kind, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), bytes.data(), &size, algorithm(kind), nullptr);
  MUSTER_ASSERT(done == 1, "libcrypto was built with SHA-1 and SHA-2");
  return {bytes.begin(), bytes.begin() + size};
}

std::string hex_digest(DigestKind kind, std::string_view text) {
  std::string hex;
  for (const char byte : digest(kind, text))
    fmt::format_to(std::back_inserter(hex), "{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace muster
