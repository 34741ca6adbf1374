#include "engine/manager_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::engine {
namespace manager_config_test {

using testing::HasSubstr;
using testing::Optional;

constexpr std::string_view kHead =
    "apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n";

Result<ManagerConfig> parsed(std::string_view rest) {
  return parse_manager_config(std::string(kHead) + std::string(rest));
}
std::string fault_in(std::string_view rest) {
  const auto config = parsed(rest);
  return config ? "none" : config.error().message;
}

TEST(ManagerConfig, AnEmptyOneSetsNothing) {
  const auto config = parsed("");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->webhook_listen, std::nullopt);
  EXPECT_EQ(config->health_listen, std::nullopt);
  EXPECT_EQ(config->leader_elect, std::nullopt);
  EXPECT_EQ(config->feature_gates, "");
}

TEST(ManagerConfig, UpstreamsOwnFileIsTaken) {
  const auto config = parsed(R"(
webhook: {port: 9443}
leaderElection:
  leaderElect: true
  resourceName: other.jobset.x-k8s.io
  resourceNamespace: jobs
  leaseDuration: 1m15s
  renewDeadline: 10s
  retryPeriod: 500ms
metrics: {bindAddress: ":8443"}
health: {healthProbeBindAddress: ":8081"}
internalCertManagement: {enable: true, webhookServiceName: a, webhookSecretName: b}
clientConnection: {qps: 500, burst: 500}
featureGates: {ElasticJobSet: true, InPlaceRestart: false}
)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->webhook_listen, Optional(std::string("0.0.0.0:9443")));
  EXPECT_THAT(config->health_listen, Optional(std::string("0.0.0.0:8081")));
  EXPECT_THAT(config->leader_elect, Optional(true));
  EXPECT_EQ(config->lease_name, "other.jobset.x-k8s.io");
  EXPECT_EQ(config->lease_namespace, "jobs");
  EXPECT_THAT(config->lease_duration, Optional(Duration(std::chrono::seconds(75))));
  EXPECT_THAT(config->retry_period, Optional(Duration(std::chrono::milliseconds(500))));
  EXPECT_EQ(config->feature_gates, "ElasticJobSet=true,InPlaceRestart=false");
}

TEST(ManagerConfig, MetricsAloneAreServedAtTheirAddressAndZeroMeansNone) {
  EXPECT_THAT(parsed("metrics: {bindAddress: '127.0.0.1:9'}")->health_listen,
              Optional(std::string("127.0.0.1:9")));
  EXPECT_EQ(parsed("metrics: {bindAddress: '0'}")->health_listen, std::nullopt);
}

TEST(ManagerConfig, WhatIsUnknownOrCannotBeHonouredIsRefusedByName) {
  EXPECT_EQ(fault_in("webhooks: {}"), "webhooks: unknown field");
  EXPECT_EQ(fault_in("webhook: {prot: 1}"), "webhook.prot: unknown field");
  EXPECT_THAT(fault_in("webhook: {port: 0}"), HasSubstr("webhook.port"));
  EXPECT_THAT(fault_in("webhook: {certDir: /x}"), HasSubstr("webhook.certDir"));
  EXPECT_THAT(fault_in("leaderElection: {resourceLock: endpoints}"), HasSubstr("resourceLock"));
  EXPECT_THAT(fault_in("leaderElection: {leaseDuration: soon}"), HasSubstr("leaseDuration"));
  EXPECT_THAT(fault_in("leaderElection: {leaseDuration: nans}"), HasSubstr("leaseDuration"));
  EXPECT_THAT(fault_in("leaderElection: 1"), HasSubstr("must be a mapping"));
  EXPECT_EQ(fault_in("tls: {minVersion: VersionTLS10}"),
            "invalid minVersion: VersionTLS10 is not supported. Please use VersionTLS12 or "
            "VersionTLS13");
  EXPECT_THAT(fault_in("featureGates: {A: maybe}"), HasSubstr("featureGates.A"));
  EXPECT_NE(fault_in("metrics: {}\nmetrics: {}"), "none");
}

TEST(ManagerConfig, AnotherKindIsNotTaken) {
  EXPECT_FALSE(parse_manager_config("apiVersion: v1\nkind: ConfigMap\n"));
  EXPECT_FALSE(parse_manager_config(""));
}

}  // namespace manager_config_test
}  // namespace muster::engine
