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
namespace {

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
  EXPECT_EQ(tail_of_log("t stdout F " + std::string(5000, 'x') + "\n").size(), 2048u);
}

TEST_F(Pieces, UsersAreThoseOfTheContainerThenOfThePod) {
  const json::Value pod = parse(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{
      "securityContext":{"runAsUser":7,"runAsGroup":8,"fsGroup":9},
      "containers":[{"name":"a","securityContext":{"runAsUser":5}}]}})");
  const auto user = user_of(pod, container_spec(pod, "a"), {.uid = 0});
  ASSERT_TRUE(user && *user);
  EXPECT_EQ((*user)->uid, 5u);
  EXPECT_EQ((*user)->gid, 8u);
  EXPECT_THAT((*user)->groups, ElementsAre(9u));
  const auto refused = user_of(pod, container_spec(pod, "a"), {.uid = 1000});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("asks for user 5"));
  EXPECT_TRUE(user_of(pod, container_spec(pod, "a"), {.uid = 5}).has_value());
}

TEST_F(Pieces, RootIsOnlyForPodsOfANodeWithoutAUserForThem) {
  const runtime::User nobody{.uid = 65534, .gid = 65534, .groups = {}};
  for (const char* wish : {R"({"runAsUser":0})", R"({"runAsUser":7,"runAsGroup":0})"}) {
    const json::Value pod = parse(
        fmt::format(R"({{"spec":{{"containers":[{{"name":"a","securityContext":{}}}]}}}})", wish));
    const json::Value container = container_spec(pod, "a");
    EXPECT_TRUE(user_of(pod, container, {.uid = 0})) << wish;
    const auto refused = user_of(pod, container, {.uid = 0, .pod_user = nobody});
    ASSERT_FALSE(refused) << wish;
    EXPECT_EQ(refused.error().message,
              "container a asks for root, but this node runs pods as user 65534");
  }
}

TEST_F(Pieces, AUserWithoutAGroupGetsOneOfTheSameNumber) {
  const json::Value pod =
      parse(R"({"spec":{"containers":[{"name":"a","securityContext":{"runAsUser":4242}}]}})");
  const auto user = user_of(pod, container_spec(pod, "a"), {.uid = 0});
  ASSERT_TRUE(user && *user);
  EXPECT_EQ((*user)->gid, 4242u);
}

TEST_F(Pieces, RunAsNonRootHoldsForWhoeverThePodWouldRunAs) {
  const json::Value pod = parse(R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":{
      "securityContext":{"runAsNonRoot":true},"containers":[{"name":"a"}]}})");
  const json::Value container = container_spec(pod, "a");
  const auto as_root = user_of(pod, container, {.uid = 0});
  ASSERT_FALSE(as_root);
  EXPECT_EQ(
      as_root.error().message,
      "container has runAsNonRoot and image will run as root (pod: \"p_n(u)\", container: a)");
  EXPECT_TRUE(user_of(pod, container, {.uid = 0, .pod_user = runtime::User{.uid = 65534}}));
  EXPECT_TRUE(user_of(pod, container, {.uid = 1000}));
}

}  // namespace
}  // namespace muster::agent
