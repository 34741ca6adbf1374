#include "server/continue_token.h"

#include <gtest/gtest.h>

#include "server/base64url.h"

namespace muster::server {
namespace continue_token_test {

TEST(Base64Url, GoesBothWays) {
  for (const std::string_view text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(*base64url_decode(base64url_encode(text)), text);
  }
  EXPECT_EQ(base64url_encode("\xff\xfe\xfd"), "__79");
}

TEST(Base64Url, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(base64url_decode("notatoken").error().message, "illegal base64 data at input byte 8");
  EXPECT_EQ(base64url_decode("ab+d").error().message, "illegal base64 data at input byte 2");
}

TEST(ContinueToken, HasUpstreamsForm) {
  const std::string token = encode_continue({41, "ns", "c1"}, ListScope::kNamespace);
  EXPECT_EQ(*base64url_decode(token), R"({"v":"meta.k8s.io/v1","rv":41,"start":"/c1\u0000"})");
  EXPECT_EQ(*base64url_decode(encode_continue({41, "ns", "c1"}, ListScope::kAllNamespaces)),
            R"({"v":"meta.k8s.io/v1","rv":41,"start":"ns/c1\u0000"})");
  EXPECT_EQ(*base64url_decode(encode_continue({0, "", "c1"}, ListScope::kCluster)),
            R"({"v":"meta.k8s.io/v1","rv":-1,"start":"c1\u0000"})");
}

TEST(ContinueToken, GoesBothWaysInEveryScope) {
  const auto round = [](const ContinueToken& token, ListScope scope) {
    return *decode_continue(encode_continue(token, scope), scope);
  };
  EXPECT_EQ(round({7, "n", "a"}, ListScope::kAllNamespaces).ns, "n");
  EXPECT_EQ(round({7, "n", "a"}, ListScope::kAllNamespaces).name, "a");
  EXPECT_EQ(round({7, "n", "a"}, ListScope::kNamespace).name, "a");
  EXPECT_EQ(round({0, "", "a"}, ListScope::kCluster).revision, 0u);
}

TEST(ContinueToken, RefusesWhatItDidNotMake) {
  for (const std::string_view text : {"{}", R"({"v":"meta.k8s.io/v2","rv":1,"start":"a"})",
                                      R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})",
                                      R"({"v":"meta.k8s.io/v1","rv":1,"start":""})", "[", "1"}) {
    const auto token = decode_continue(base64url_encode(text), ListScope::kCluster);
    ASSERT_FALSE(token.has_value()) << text;
    EXPECT_TRUE(token.error().message.starts_with("continue key is not valid: "));
  }
}

}  // namespace continue_token_test
}  // namespace muster::server
