// The admission plugins that act on built-in kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "admission/testing.h"

namespace muster::admission {
namespace plugins_test {

using json::IsJson;
using testing::HasSubstr;

constexpr std::string_view kPod =
    R"({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})";

std::string pod_with(std::string_view spec) {
  return fmt::format(
      R"({{"metadata": {{"name": "p"}}, "spec": {{"containers": [{{"name": "c", "image": "i"}}], {}}}}})",
      spec);
}

TEST(NamespaceLifecycle, RefusesWhatHasNoHome) {
  World world;
  world.add("v1", "Namespace",
            R"({"metadata": {"name": "old", "deletionTimestamp": "2026-01-01T00:00:00Z"}})");
  const auto in = [&](std::string_view ns) {
    return world.create("v1", "ConfigMap", R"({"metadata": {"name": "x"}})", {.ns = ns});
  };
  EXPECT_EQ(in("ns").message(), "");
  const Outcome missing = in("none");
  ASSERT_TRUE(missing.error);
  EXPECT_EQ(missing.error->code, Code::kNotFound);
  const Outcome dying = in("old");
  ASSERT_TRUE(dying.error);
  EXPECT_EQ(dying.error->code, Code::kForbidden);
  EXPECT_EQ(dying.error->causes.at(0).reason, "NamespaceTerminating");
}

TEST(ServiceAccounts, TheDefaultOneNeedsNoObject) {
  const World world;
  const Outcome pod = world.create("v1", "Pod", kPod);
  ASSERT_EQ(pod.message(), "");
  EXPECT_EQ(pod.at({"spec", "serviceAccountName"}).as_string(), "default");
  const std::string_view volume = pod.at({"spec", "volumes"}).item(0).get("name").as_string();
  EXPECT_THAT(std::string(volume), testing::StartsWith("kube-api-access-"));
  const json::Value mount = pod.at({"spec", "containers"}).item(0).get("volumeMounts").item(0);
  EXPECT_EQ(mount.get("name").as_string(), volume);
}

TEST(ServiceAccounts, AnyOtherDoes) {
  World world;
  const std::string text = pod_with(R"("serviceAccountName": "robot")");
  EXPECT_THAT(
      world.create("v1", "Pod", text).message(),
      HasSubstr("error looking up service account ns/robot: serviceaccount \"robot\" not found"));
  world.add("v1", "ServiceAccount",
            R"({"metadata": {"name": "robot"}, "imagePullSecrets": [{"name": "s"}],
                "automountServiceAccountToken": false})");
  const Outcome pod = world.create("v1", "Pod", text);
  ASSERT_EQ(pod.message(), "");
  EXPECT_THAT(pod.at({"spec", "imagePullSecrets"}), IsJson(R"([{"name": "s"}])"));
  EXPECT_FALSE(pod.at({"spec"}).has("volumes"));
}

TEST(ServiceAccounts, ThePodHasTheLastWordOnItsToken) {
  World world;
  world.add("v1", "ServiceAccount",
            R"({"metadata": {"name": "default"}, "automountServiceAccountToken": false})");
  EXPECT_TRUE(world.create("v1", "Pod", pod_with(R"("automountServiceAccountToken": true)"))
                  .at({"spec"})
                  .has("volumes"));
}

TEST(Priorities, OfPodsComeFromTheirClass) {
  World world;
  world.add("scheduling.k8s.io/v1", "PriorityClass",
            R"({"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"})");
  const Outcome pod = world.create("v1", "Pod", pod_with(R"("priorityClassName": "high")"));
  ASSERT_EQ(pod.message(), "");
  EXPECT_EQ(pod.at({"spec", "priority"}).as_int(), 7);
  EXPECT_EQ(pod.at({"spec", "preemptionPolicy"}).as_string(), "Never");
  EXPECT_EQ(world.create("v1", "Pod", pod_with(R"("priorityClassName": "system-node-critical")"))
                .at({"spec", "priority"})
                .as_int(),
            2000001000);
}

TEST(Priorities, ThatDoNotExistAreRefusedByTheBeginningOfAName) {
  const World world;
  const Outcome pod = world.create("v1", "Pod", R"({"metadata": {"generateName": "job-"}, "spec": {
      "priorityClassName": "none", "containers": [{"name": "c", "image": "i"}]}})");
  EXPECT_EQ(pod.message(), "pods \"job-\" is forbidden: no PriorityClass with name none was found");
}

TEST(Priorities, WithoutAClassTheLowestGlobalDefaultCounts) {
  World world;
  world.add("scheduling.k8s.io/v1", "PriorityClass",
            R"({"metadata": {"name": "a"}, "value": 9, "globalDefault": true})");
  world.add("scheduling.k8s.io/v1", "PriorityClass",
            R"({"metadata": {"name": "b"}, "value": 4, "globalDefault": true})");
  const Outcome pod = world.create("v1", "Pod", kPod);
  EXPECT_EQ(pod.at({"spec", "priority"}).as_int(), 4);
  EXPECT_EQ(pod.at({"spec", "priorityClassName"}).as_string(), "b");
}

TEST(Priorities, OfAJobSetsPodsShowAsALabel) {
  const World world;
  const Outcome pod = world.create(
      "v1", "Pod",
      R"({"metadata": {"name": "p", "annotations": {"jobset.sigs.k8s.io/jobset-name": "js"}},
                       "spec": {"containers": [{"name": "c", "image": "i"}]}})");
  EXPECT_EQ(pod.at({"metadata", "labels", "jobset.sigs.k8s.io/priority"}).as_string(), "0");
}

class Services : public testing::Test {
 protected:
  Outcome create(std::string_view name, std::string_view spec) {
    Outcome service =
        world.create("v1", "Service",
                     fmt::format(R"({{"metadata": {{"name": "{}"}}, "spec": {}}})", name, spec));
    if (!service.error) world.add("v1", "Service", service.text());
    return service;
  }
  World world;
};

TEST_F(Services, GetAddressesThatNobodyHas) {
  std::set<std::string> addresses;
  std::set<std::int64_t> ports;
  for (int i = 0; i < 50; ++i) {
    const Outcome service =
        create(fmt::format("s{}", i), R"({"type": "NodePort", "ports": [{"port": 80}]})");
    ASSERT_EQ(service.message(), "");
    const std::string address(service.at({"spec", "clusterIP"}).as_string());
    EXPECT_THAT(address, testing::StartsWith("10.96."));
    EXPECT_TRUE(addresses.insert(address).second) << address;
    const std::int64_t port = service.at({"spec", "ports"}).item(0).get("nodePort").as_int();
    EXPECT_TRUE(ports.insert(port).second) << port;
  }
}

TEST_F(Services, GetTheSameAddressForTheSameName) {
  World other;
  const std::string_view text = R"({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})";
  EXPECT_EQ(world.create("v1", "Service", text).at({"spec", "clusterIP"}).as_string(),
            other.create("v1", "Service", text).at({"spec", "clusterIP"}).as_string());
}

TEST_F(Services, MayWishForAnAddressThatIsFree) {
  EXPECT_EQ(create("a", R"({"clusterIP": "10.96.0.10", "ports": [{"port": 53}]})").message(), "");
  EXPECT_THAT(create("b", R"({"clusterIP": "10.96.0.10", "ports": [{"port": 53}]})").message(),
              HasSubstr("spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: failed to allocate IP "
                        "10.96.0.10: provided IP is already allocated"));
}

TEST_F(Services, KeepTheirAddressWhenAClientLeavesItOut) {
  const Outcome service = create("s", R"({"ports": [{"port": 80}]})");
  const Outcome updated =
      world.update("v1", "Service", service,
                   R"({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 81}]}})");
  ASSERT_EQ(updated.message(), "");
  EXPECT_TRUE(json::equal(updated.at({"spec", "clusterIPs"}), service.at({"spec", "clusterIPs"})));
}

TEST(ConfigMaps, HoldAMebibyte) {
  const World world;
  const auto of_size = [&](std::size_t size) {
    return world.create("v1", "ConfigMap",
                        fmt::format(R"({{"metadata": {{"name": "x"}}, "data": {{"a": "{}"}}}})",
                                    std::string(size, 'x')));
  };
  EXPECT_EQ(of_size(1048576).message(), "");
  EXPECT_EQ(of_size(1048577).message(),
            "ConfigMap \"x\" is invalid: []: Too long: may not be more than 1048576 bytes");
}

TEST(Owners, AreToldOnce) {
  const World world;
  const Outcome made =
      world.create("v1", "ConfigMap", R"({"metadata": {"name": "x", "ownerReferences": [
      {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"},
      {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"},
      {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "1"}]}})");
  EXPECT_EQ(made.at({"metadata", "ownerReferences"}).size(), 2U);
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_THAT(made.warnings[0], testing::EndsWith("duplicate UID(s) observed: 1"));
}

TEST(Finalizers, OfCustomResourcesMayLackADomain) {
  const World world;
  const Outcome made =
      world.create("jobset.x-k8s.io/v1alpha2", "JobSet",
                   R"({"metadata": {"name": "x", "finalizers": ["foo", "foo.io"]}})");
  EXPECT_EQ(made.message(), "");
  EXPECT_THAT(
      made.warnings,
      testing::ElementsAre(
          "metadata.finalizers: \"foo\": prefer a domain-qualified finalizer name to avoid "
          "accidental conflicts with other finalizer writers",
          "metadata.finalizers: \"foo.io\": prefer a domain-qualified finalizer name including a "
          "path (/) to avoid accidental conflicts with other finalizer writers"));
}

}  // namespace plugins_test
}  // namespace muster::admission
