#include "server/continue_token.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace muster::server {
namespace continue_token_test {

TEST(ContinueToken, HasUpstreamsForm) {
  const std::string token = encode_continue({41, "ns", "c1"}, ListScope::kNamespace);
  EXPECT_EQ(*decode_base64url(token), R"({"v":"meta.k8s.io/v1","rv":41,"start":"/c1\u0000"})");
  EXPECT_EQ(*decode_base64url(encode_continue({41, "ns", "c1"}, ListScope::kAllNamespaces)),
            R"({"v":"meta.k8s.io/v1","rv":41,"start":"ns/c1\u0000"})");
  EXPECT_EQ(*decode_base64url(encode_continue({0, "", "c1"}, ListScope::kCluster)),
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
    const auto token = decode_continue(encode_base64url(text), ListScope::kCluster);
    ASSERT_FALSE(token.has_value()) << text;
    EXPECT_TRUE(token.error().message.starts_with("continue key is not valid: "));
  }
}

}  // namespace continue_token_test
}  // namespace muster::server
