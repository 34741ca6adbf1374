#include "base/digest.h"

#include <gtest/gtest.h>

namespace muster {
namespace digest_test {

TEST(Digest, Sha1HasTheStandardsVectors) {
  EXPECT_EQ(hex_digest(DigestKind::kSha1, ""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex_digest(DigestKind::kSha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(Digest, Sha256HasTheStandardsVectors) {
  EXPECT_EQ(hex_digest(DigestKind::kSha256, "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, Sha512HasTheStandardsVectors) {
  EXPECT_EQ(hex_digest(DigestKind::kSha512, "abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

TEST(Digest, BytesAreNotText) {
  EXPECT_EQ(digest(DigestKind::kSha1, "abc").size(), 20u);
  EXPECT_EQ(digest(DigestKind::kSha256, std::string_view("\0a", 2)).size(), 32u);
  EXPECT_EQ(digest(DigestKind::kSha512, "").substr(0, 2), "\xcf\x83");
}

}  // namespace digest_test
}  // namespace muster
