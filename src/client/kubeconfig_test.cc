#include "client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::client {
namespace kubeconfig_test {

using testing::HasSubstr;

constexpr std::string_view kConfig = R"(
apiVersion: v1
kind: Config
clusters:
- {name: c1, cluster: {server: "https://one:6443/", certificate-authority-data: Y2E=}}
- {name: c2, cluster: {server: "https://two:6443", insecure-skip-tls-verify: true}}
users:
- {name: cert, user: {client-certificate-data: Y3J0, client-key-data: a2V5}}
- {name: token, user: {token: secret}}
- {name: plugin, user: {exec: {command: login}}}
contexts:
- {name: first, context: {cluster: c1, user: cert, namespace: team}}
- {name: second, context: {cluster: c2, user: token}}
- {name: third, context: {cluster: c2, user: plugin}}
- {name: broken, context: {cluster: nowhere, user: token}}
current-context: first
)";

TEST(Kubeconfig, TheCurrentContextWithACertificate) {
  const auto config = parse_kubeconfig(kConfig, "", "");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->url, "https://one:6443");
  EXPECT_EQ(config->ca_pem, "ca");
  EXPECT_EQ(config->certificate_pem, "crt");
  EXPECT_EQ(config->private_key_pem, "key");
  EXPECT_EQ(config->ns, "team");
}

TEST(Kubeconfig, AnotherContextWithAToken) {
  const auto config = parse_kubeconfig(kConfig, "second", "");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->token, "secret");
  EXPECT_FALSE(config->verify_server);
  EXPECT_EQ(config->ns, "default");
}

TEST(Kubeconfig, SaysWhatItCannotDo) {
  EXPECT_THAT(parse_kubeconfig(kConfig, "third", "").error().message, HasSubstr("by exec"));
  EXPECT_THAT(parse_kubeconfig(kConfig, "broken", "").error().message, HasSubstr("\"nowhere\""));
  EXPECT_THAT(parse_kubeconfig(kConfig, "missing", "").error().message, HasSubstr("\"missing\""));
}

TEST(InCluster, SaysThatItIsNotInOne) { EXPECT_FALSE(in_cluster_config("", "")); }

TEST(HttpsUrl, PutsBracketsAroundIpv6) {
  EXPECT_EQ(https_url("::1", "6443"), "https://[::1]:6443");
}

}  // namespace kubeconfig_test
}  // namespace muster::client
