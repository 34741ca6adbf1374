#include "engine/install_manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/data_dir.h"
#include "json/testing.h"

namespace muster::engine {
namespace install_manifests_test {

using json::IsJson;
using json::Value;
using testing::ElementsAre;

class InstallManifests : public testing::Test {
 protected:
  std::vector<Value> made(const InstallSettings& settings = {}) {
    return install_manifests(arena, api::Registry::builtin(), settings);
  }
  Value find(std::string_view kind, std::string_view name) {
    for (const Value manifest : made()) {
      if (manifest.get("kind").as_string() == kind &&
          manifest.get({"metadata", "name"}).as_string() == name)
        return manifest;
    }
    return {};
  }
  json::Arena arena;
};

// `muster install --print >deploy/install.yaml` makes it current.
TEST_F(InstallManifests, TheCheckedInCopyIsCurrent) {
  const auto file = read_file(ENGINE_DEPLOY "/install.yaml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(*file == install_yaml(api::Registry::builtin(), {}))
      << "muster install --print >deploy/install.yaml";
}

TEST_F(InstallManifests, StandInTheOrderInWhichTheyAreApplied) {
  std::vector<std::string> kinds;
  for (const Value manifest : made({.webhook_url = "https://h", .webhook_ca_pem = "PEM"}))
    kinds.emplace_back(manifest.get("kind").as_string());
  EXPECT_THAT(kinds,
              ElementsAre("Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole",
                          "ClusterRoleBinding", "Role", "RoleBinding", "ClusterRole", "ClusterRole",
                          "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"));
}

TEST_F(InstallManifests, TheDefinitionHasWhatMakesAJobSet) {
  const Value version =
      find("CustomResourceDefinition", "jobsets.jobset.x-k8s.io").get({"spec", "versions"}).item(0);
  EXPECT_EQ(version.get("name").as_string(), "v1alpha2");
  EXPECT_TRUE(version.get({"subresources", "status"}).is_object());
  const Value spec = version.get({"schema", "openAPIV3Schema", "properties", "spec"});
  EXPECT_TRUE(spec.get({"properties", "groupSchedulingConfig"}).is_object());
  EXPECT_TRUE(spec.get({"properties", "gangConfig"}).is_object());
  EXPECT_EQ(spec.get("x-kubernetes-validations").item(0).get("message").as_string(),
            "StartupPolicy and DependsOn APIs are mutually exclusive");
  const Value jobs = spec.get({"properties", "replicatedJobs"});
  EXPECT_THAT(jobs.get("x-kubernetes-list-map-keys"), IsJson(R"(["name"])"));
  EXPECT_EQ(jobs.get({"items", "properties", "replicas", "default"}).as_int(), 1);
}

// Whoever takes the operator over may not point other people's webhooks at it.
TEST_F(InstallManifests, WebhooksMayBeWrittenByNameOnly) {
  const Value role = find("ClusterRole", "jobset-manager-role");
  int found = 0;
  for (const Value rule : role.get("rules").items()) {
    if (rule.get("apiGroups").item(0).as_string() != "admissionregistration.k8s.io") continue;
    EXPECT_EQ(rule.get("resourceNames").size(), 1u);
    ++found;
  }
  EXPECT_EQ(found, 2);
}

}  // namespace install_manifests_test
}  // namespace muster::engine
