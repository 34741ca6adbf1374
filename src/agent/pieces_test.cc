// The small pure parts of the agent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/devices.h"
#include "agent/node_object.h"
#include "agent/pod_requests.h"
#include "agent/references.h"
#include "agent/run_spec.h"
#include "agent/termination_message.h"
#include "json/parse.h"
#include "json/testing.h"

namespace muster::agent {
namespace pieces_test {

using json::IsJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

class Pieces : public ::testing::Test {
 protected:
  json::Value parse(std::string_view text) { return *json::parse(arena_, text); }
  json::Arena arena_;
};

TEST_F(Pieces, AnInitContainerRunsBesideTheSidecarsBeforeItTheMainOnesBesideAll) {
  const json::Value pod = parse(R"({"spec":{
      "initContainers":[
        {"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
        {"name":"i","resources":{"requests":{"cpu":"2","memory":"1Ki"}}}],
      "containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}},
                    {"name":"b","resources":{"requests":{"cpu":"1","example.com/w":"2"}}}]}})");
  EXPECT_THAT(requests_of(pod), ElementsAre(Pair("cpu", 2100), Pair("example.com/w", 2),
                                            Pair("memory", 1024), Pair("pods", 1)));
}

TEST_F(Pieces, WhatThePodAsksForAsAWholeIsCountedAsTheSchedulerDoes) {
  const json::Value pod = parse(R"({"spec":{
      "resources":{"requests":{"cpu":"3","memory":"2Ki","example.com/w":"9"}},
      "containers":[{"name":"a","resources":{"requests":{"cpu":"1","example.com/w":"2"}}}]}})");
  EXPECT_THAT(requests_of(pod), ElementsAre(Pair("cpu", 3000), Pair("example.com/w", 2),
                                            Pair("memory", 2048), Pair("pods", 1)));
}

TEST_F(Pieces, TheFirstResourceThatIsShortIsNamed) {
  const Amounts capacity = {{"cpu", 1000}, {"memory", 100}, {"pods", 2}};
  EXPECT_FALSE(refusal({{"cpu", 400}, {"pods", 1}}, {{"cpu", 600}, {"pods", 1}}, capacity));
  const auto short_of = refusal({{"memory", 60}, {"pods", 1}}, {{"memory", 50}}, capacity);
  ASSERT_TRUE(short_of);
  EXPECT_EQ(short_of->reason, "OutOfmemory");
  EXPECT_EQ(refusal({{"pods", 1}}, {{"pods", 2}}, capacity)->reason, "OutOfpods");
  EXPECT_FALSE(refusal({{"example.com/unknown", 5}}, {}, capacity)) << "not this node's business";
}

TEST_F(Pieces, DevicesAreGivenOnceAndComeBack) {
  Devices devices({"0", "1", "2"});
  EXPECT_THAT(devices.take("a", 2), Optional(ElementsAre("0", "1")));
  EXPECT_FALSE(devices.take("b", 2));
  devices.give_back("a");
  devices.take_again("c", {"1"});
  EXPECT_THAT(devices.take("b", 2), Optional(ElementsAre("0", "2")));
  EXPECT_THAT(device_environment({"0", "2"}),
              ElementsAre("CUDA_VISIBLE_DEVICES=0,2", "NVIDIA_VISIBLE_DEVICES=0,2"));
}

TEST_F(Pieces, ThoseWithoutDevicesSeeNone) {
  EXPECT_THAT(device_environment({}),
              ElementsAre("CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES="));
}

TEST_F(Pieces, GpusAreUsedThroughTheDevicesOfTheirDrivers) {
  EXPECT_THAT(gpu_majors("Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n"
                         "511 nvidia-uvm\n\nBlock devices:\n259 nvidia-no\n"),
              ElementsAre(195, 511));
  EXPECT_THAT(gpu_majors(""), IsEmpty());
}

TEST_F(Pieces, AMachineIsSharedOutEvenly) {
  const MachineFacts facts{.hostname = "m",
                           .cpu_millis = 3000,
                           .memory_bytes = 4096,
                           .disk_bytes = 8192,
                           .gpus = {"0", "1"},
                           .architecture = "arm64"};
  const auto one = share_out(facts, {});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].name, "m");
  const auto two = share_out(
      facts, {.count = 2, .labels = {{"zone", "z"}}, .extra_resources = {{"example.com/w", 4}}});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1].name, "node-1");
  EXPECT_EQ(two[1].labels.at("kubernetes.io/hostname"), "node-1");
  EXPECT_EQ(two[1].labels.at("zone"), "z");
  EXPECT_THAT(two[1].gpus, ElementsAre("1"));
  EXPECT_THAT(write_resources(arena_, two[1].resources),
              IsJson(R"({"cpu":"1500m","ephemeral-storage":"4Ki","example.com/w":"4",
                         "memory":"2Ki","nvidia.com/gpu":"1","pods":"1000"})"));
}

TEST_F(Pieces, ANodeSaysWhatItsKernelDoesNotAllow) {
  const NodeShare share{.name = "n"};
  const json::Value status = write_node_status(
      arena_, share, {}, std::vector<runtime::Ability>{{"pid namespaces", false, "no root"}}, {},
      Time());
  const json::Value ready = status.get("conditions").item(4);
  EXPECT_EQ(ready.get("type").as_string(), "Ready") << "the last one";
  const json::Value isolation = status.get("conditions").item(3);
  EXPECT_EQ(isolation.get("message").as_string(), "not available: pid namespaces (no root)");
}

TEST_F(Pieces, AllObjectsThatAPodNamesAreFound) {
  const json::Value pod = parse(R"({"metadata":{"namespace":"n",
      "annotations":{"muster.dev/barrier":"gate/k"}},"spec":{
      "initContainers":[{"name":"group-scheduling-init"}],
      "containers":[{"name":"a","envFrom":[{"configMapRef":{"name":"c1"}},{"secretRef":{"name":"s1"}}],
        "env":[{"name":"X","valueFrom":{"configMapKeyRef":{"name":"c2","key":"k"}}}]}],
      "volumes":[{"name":"v","secret":{"secretName":"s2"}},
        {"name":"w","projected":{"sources":[{"configMap":{"name":"c3"}}]}},
        {"name":"x","persistentVolumeClaim":{"claimName":"p"}}]}})");
  std::vector<std::string> names;
  for (const Reference& each : references_of(pod, read_pod_view(pod))) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("c1", "c2", "c3", "gate", "s1", "s2", "p"));
}

TEST_F(Pieces, TheTokenIsMountedOnlyForThoseWhoWantIt) {
  constexpr std::string_view kPod = R"({"spec":{"serviceAccountName":"%","containers":[{"name":"a",
      "volumeMounts":[{"name":"kube-api-access-x","mountPath":"/t"},{"name":"v","mountPath":"/v"}]}],
      "volumes":[{"name":"v","emptyDir":{}},{"name":"kube-api-access-x","projected":{}}]}})";
  std::string text(kPod);
  text.replace(text.find('%'), 1, "default");
  const json::Value plain = parse(text);
  drop_unwanted_token(plain);
  EXPECT_EQ(plain.get({"spec", "volumes"}).size(), 1u);
  EXPECT_EQ(container_spec(plain, "a").get("volumeMounts").size(), 1u);
  text.replace(text.find("default"), 7, "robot");
  const json::Value wants = parse(text);
  drop_unwanted_token(wants);
  EXPECT_EQ(wants.get({"spec", "volumes"}).size(), 2u);
}

TEST_F(Pieces, WhatOnlyTheBarrierMountsIsNotMade) {
  const json::Value pod = parse(R"({"metadata":{"annotations":{"muster.dev/barrier":"c/k"}},"spec":{
      "initContainers":[{"name":"group-scheduling-init","volumeMounts":[
        {"name":"group-scheduling","mountPath":"/g"},{"name":"shared","mountPath":"/s"}]}],
      "containers":[{"name":"a","volumeMounts":[{"name":"shared","mountPath":"/s"}]}],
      "volumes":[{"name":"group-scheduling","configMap":{"name":"c"}},{"name":"shared","emptyDir":{}}]}})");
  drop_barrier_volumes(pod);
  ASSERT_EQ(pod.get({"spec", "volumes"}).size(), 1u);
  EXPECT_EQ(pod.get({"spec", "volumes"}).item(0).get("name").as_string(), "shared");
}

TEST_F(Pieces, TheEndOfALogHasNoTimesAndJoinsPartialLines) {
  EXPECT_EQ(tail_of_log("2026-11-15T10:00:00.000000000Z stdout F one\n"
                        "2026-11-15T10:00:00.000000000Z stderr P tw\n"
                        "2026-11-15T10:00:00.000000000Z stderr F o three\n"),
            "one\ntwo three\n");
  std::string many;
  for (int i = 0; i < 100; ++i) many += fmt::format("t stdout F {}\n", i);
  EXPECT_TRUE(tail_of_log(many).starts_with("20\n")) << "the last 80 lines";
  EXPECT_EQ(tail_of_log("ut F of a line\nt stdout F two\n"), "two\n") << "not half a line";
  EXPECT_EQ(tail_of_log("t stdout P:tag on\nt stdout F:tag e\n"), "one\n");
  EXPECT_EQ(tail_of_log("t stdout F " + std::string(5000, 'x') + "\n").size(), 2048u);
}

TEST_F(Pieces, UsersAreThoseOfTheContainerThenOfThePod) {
  const json::Value pod = parse(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{
      "securityContext":{"runAsUser":7,"runAsGroup":8,"fsGroup":9},
      "containers":[{"name":"a","securityContext":{"runAsUser":5}}]}})");
  const auto user = user_of(pod, container_spec(pod, "a"), {.uid = 0, .pod_user = {}});
  ASSERT_TRUE(user);
  EXPECT_EQ(user->uid, 5u);
  EXPECT_EQ(user->gid, 8u);
  EXPECT_THAT(user->groups, ElementsAre(9u));
}

constexpr std::uint32_t kNobody = 65534;

Identity node_of_root(bool any_user) {
  return {.uid = 0, .pod_user = {kNobody, kNobody, {7}}, .any_user = any_user};
}

struct Wish {
  const char* pod;
  const char* container;
  const char* refused;  // empty: allowed everywhere
};

TEST_F(Pieces, OthersThanThePodsUserAreHadOnlyUnderThePolicy) {
  const std::vector<Wish> wishes = {
      {"{}", R"({"runAsUser":65534,"runAsGroup":65534})", ""},
      {R"({"supplementalGroups":[7],"fsGroup":5})", R"({"runAsGroup":7})", ""},
      {"{}", R"({"runAsNonRoot":true})", ""},
      {"{}", R"({"runAsUser":0})", "asks for user 0"},
      {R"({"runAsUser":1000})", "{}", "asks for user 1000"},
      {"{}", R"({"runAsGroup":0})", "asks for group 0"},
      {R"({"supplementalGroups":[7,42]})", "{}", "asks for group 42"},
  };
  for (const Wish& wish : wishes) {
    SCOPED_TRACE(std::string(wish.pod) + wish.container);
    const json::Value pod = parse(fmt::format(
        R"({{"spec":{{"securityContext":{},"containers":[{{"name":"a","securityContext":{}}}]}}}})",
        wish.pod, wish.container));
    const json::Value container = container_spec(pod, "a");
    EXPECT_TRUE(user_of(pod, container, node_of_root(true)));
    const auto user = user_of(pod, container, node_of_root(false));
    EXPECT_EQ(user.has_value(), wish.refused[0] == '\0');
    if (user) continue;
    EXPECT_EQ(user.error().message,
              fmt::format("container a {}, but this node runs pods as user 65534: start muster "
                          "with --allow-any-user to allow it",
                          wish.refused));
  }
}

TEST_F(Pieces, ANodeThatIsNotRootsHasOneUser) {
  const json::Value pod =
      parse(R"({"spec":{"containers":[{"name":"a","securityContext":{"runAsUser":5}}]}})");
  const json::Value container = container_spec(pod, "a");
  EXPECT_TRUE(user_of(pod, container, {.uid = 5, .pod_user = {5, 5, {}}}));
  const auto refused =
      user_of(pod, container, {.uid = 1000, .pod_user = {1000, 1000, {}}, .any_user = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "container a asks for user 5, but this node runs pods as user 1000: start muster as "
            "root with --allow-any-user to allow it");
}

TEST_F(Pieces, AGroupForVolumesIsForThoseWhoMayHaveIt) {
  const json::Value pod =
      parse(R"({"spec":{"securityContext":{"fsGroup":9},"containers":[{"name":"a"}]}})");
  EXPECT_THAT(user_of(pod, container_spec(pod, "a"), node_of_root(true))->groups,
              ElementsAre(7u, 9u));
  EXPECT_THAT(user_of(pod, container_spec(pod, "a"), node_of_root(false))->groups, ElementsAre(7u));
}

TEST_F(Pieces, AUserWithoutAGroupGetsOneOfTheSameNumber) {
  const json::Value pod =
      parse(R"({"spec":{"containers":[{"name":"a","securityContext":{"runAsUser":4242}}]}})");
  const auto user = user_of(pod, container_spec(pod, "a"), node_of_root(true));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->gid, 4242u);
  EXPECT_THAT(user->groups, ::testing::IsEmpty());
}

TEST_F(Pieces, RunAsNonRootHoldsForWhoeverThePodWouldRunAs) {
  const json::Value pod = parse(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{
      "securityContext":{"runAsNonRoot":true},"containers":[{"name":"a"}]}})");
  const json::Value container = container_spec(pod, "a");
  const auto as_root = user_of(pod, container, {.uid = 0, .pod_user = {}});
  ASSERT_FALSE(as_root);
  EXPECT_EQ(
      as_root.error().message,
      "container has runAsNonRoot and image will run as root (pod: \"p_n(u)\", container: a)");
  EXPECT_TRUE(user_of(pod, container, node_of_root(false)));
  EXPECT_TRUE(user_of(pod, container, {.uid = 1000, .pod_user = {1000, 1000, {}}}));
}

TEST_F(Pieces, UsersAreFoundByNameAndNumber) {
  const auto root = find_user("root");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->uid, 0u);
  EXPECT_THAT(root->groups, ::testing::Contains(0u));
  EXPECT_EQ(find_user("0")->uid, 0u);
  const auto nameless = find_user("4242424");
  ASSERT_TRUE(nameless);
  EXPECT_EQ(nameless->gid, 4242424u);
  EXPECT_EQ(find_user("no-such-user").error().message,
            "there is no user \"no-such-user\" on this machine");
}

TEST_F(Pieces, OthersThanTheAgentsUserGetWhatALoginWouldGiveThem) {
  const Identity identity{.uid = 1000,
                          .pod_user = {1000, 1000, {}},
                          .environment = {"PATH=/own", "HOME=/home/own"},
                          .program = "/bin/true"};
  EXPECT_THAT(surroundings(identity, identity.pod_user),
              ElementsAre("PATH=/own", "HOME=/home/own"));
  EXPECT_THAT(surroundings(identity, *find_user("root")),
              ElementsAre("PATH=/usr/local/bin:/usr/bin:/bin:/bin", "HOME=/root", "USER=root",
                          "LOGNAME=root"));
  EXPECT_THAT(surroundings(identity, {4242424, 4242424, {}}),
              ElementsAre("PATH=/usr/local/bin:/usr/bin:/bin:/bin", "HOME=/", "USER=4242424",
                          "LOGNAME=4242424"));
}

TEST_F(Pieces, AProgramThatIsHiddenFromThePodsUserIsShownToHim) {
  Identity identity{.uid = 0, .pod_user = {kNobody, kNobody, {}}, .program = "/bin/true"};
  EXPECT_FALSE(program_mount(identity, identity.pod_user));
  identity.program_is_hidden = true;
  EXPECT_THAT(surroundings(identity, identity.pod_user),
              ::testing::Contains("PATH=/usr/local/bin:/usr/bin:/bin:/.muster/bin"));
  const auto mount = program_mount(identity, identity.pod_user);
  ASSERT_TRUE(mount);
  EXPECT_EQ(mount->source, "/bin/true");
  EXPECT_EQ(mount->target, "/.muster/bin/true");
  EXPECT_FALSE(program_mount(identity, {})) << "root sees it";
  identity.program = "/no/such/program";
  EXPECT_FALSE(program_mount(identity, identity.pod_user));
}

}  // namespace pieces_test
}  // namespace muster::agent
