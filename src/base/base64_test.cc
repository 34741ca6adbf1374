#include "base/base64.h"

#include <gtest/gtest.h>

namespace muster {
namespace base64_test {

TEST(Base64, RoundTrips) {
  for (const std::string_view bytes : {"", "a", "ab", "abc", "abcd", "\x00\xff\x80"}) {
    EXPECT_EQ(decode_base64(encode_base64(bytes)).value(), bytes);
  }
  EXPECT_EQ(encode_base64("hello"), "aGVsbG8=");
  EXPECT_EQ(decode_base64("aGVs\r\nbG8\n=\n").value(), "hello");
}

TEST(Base64, SaysWhereTheFaultIs) {
  EXPECT_EQ(decode_base64("a*bc").error(), 1U);
  EXPECT_EQ(decode_base64("YWI").error(), 0U);  // not padded
  EXPECT_EQ(decode_base64("YQ=").error(), 3U);
  EXPECT_EQ(decode_base64("YQ==YQ==").error(), 4U);
  EXPECT_EQ(decode_base64("=").error(), 0U);
}

TEST(Base64Url, RoundTrips) {
  for (const std::string_view text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(decode_base64url(encode_base64url(text)).value(), text);
  }
  EXPECT_EQ(encode_base64url("\xff\xfe\xfd"), "__79");
  EXPECT_EQ(encode_base64url("f"), "Zg");
}

TEST(Base64Url, SaysWhereTheFaultIs) {
  EXPECT_EQ(decode_base64url("notatoken").error(), 8U);
  EXPECT_EQ(decode_base64url("ab+d").error(), 2U);
}

}  // namespace base64_test
}  // namespace muster
