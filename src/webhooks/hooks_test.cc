#include "webhooks/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "json/testing.h"

namespace muster::webhooks {
namespace hooks_test {

using json::IsJson;

TEST(Hooks, AreRegisteredUnderUpstreamsNames) {
  json::Arena arena;
  const auto made = configurations(
      arena, {.url = "https://127.0.0.1:9443", .ca_pem = "PEM", .ns = "jobset-system"});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].get({"metadata", "name"}).as_string(), "jobset-mutating-webhook-configuration");
  EXPECT_EQ(made[1].get({"metadata", "name"}).as_string(),
            "jobset-validating-webhook-configuration");
  EXPECT_THAT(made[0].get("webhooks").item(0).get("rules").item(0).get("operations"),
              IsJson(R"(["CREATE", "UPDATE"])"))
      << "a field of a switched-off feature may also come later";
  EXPECT_THAT(made[1].get("webhooks").item(0), IsJson(R"({
      "name": "vjobset.kb.io", "admissionReviewVersions": ["v1"],
      "clientConfig": {"caBundle": "UEVN",
                       "url": "https://127.0.0.1:9443/validate-jobset-x-k8s-io-v1alpha2-jobset"},
      "failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 5,
      "namespaceSelector": {"matchExpressions": [
          {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["jobset-system"]}]},
      "rules": [{"apiGroups": ["jobset.x-k8s.io"], "apiVersions": ["v1alpha2"],
                 "operations": ["CREATE", "UPDATE"], "resources": ["jobsets"],
                 "scope": "Namespaced"}]})"));
}

// A webhook that is down must not keep other people's pods from being created.
TEST(Hooks, OfPodsAreForPodsOfJobSetsOnly) {
  json::Arena arena;
  for (const json::Value configuration : configurations(arena, {.url = "https://h", .ns = "x"})) {
    const json::Value pods = configuration.get("webhooks").item(1);
    EXPECT_THAT(pods.get("objectSelector"), IsJson(R"({"matchExpressions": [
                    {"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]})"));
    EXPECT_THAT(pods.get("rules").item(0).get("operations"), IsJson(R"(["CREATE"])"));
  }
}

TEST(Hooks, AreFoundByPath) {
  for (const Hook& hook : all_hooks()) EXPECT_EQ(find_hook(hook.path), &hook);
  EXPECT_EQ(find_hook("/mutate--v1-service"), nullptr);
}

}  // namespace hooks_test
}  // namespace muster::webhooks
