#include "scheduler/place.h"

#include <gtest/gtest.h>

#include "scheduler/testing.h"

namespace muster::scheduler {
namespace place_test {

using testing::asking;
using testing::node;
using testing::World;

constexpr std::string_view kGpuTaint =
    R"({"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]})";

struct Row {
  std::string_view sentence;
  std::string node;
  std::string pod;
  std::string_view refusal;  // empty: it is taken
};

constexpr std::string_view kAffinity =
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
constexpr std::string_view kTaint = "0/1 nodes are available: 1 node(s) had untolerated taint(s).";
constexpr std::string_view kCordon = "0/1 nodes are available: 1 node(s) were unschedulable.";

std::string required(std::string_view term) {
  return fmt::format(
      R"({{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":
         {{"nodeSelectorTerms":[{}]}}}}}}}})",
      term);
}
std::string expression(std::string_view key, std::string_view op, std::string_view values) {
  return required(fmt::format(
      R"({{"matchExpressions":[{{"key":"{}","operator":"{}","values":[{}]}}]}})", key, op, values));
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    World world;
    world.with(node("a", row.node));
    EXPECT_EQ(world.refusal(row.pod), row.refusal) << row.sentence;
  }
}

TEST(Place, ByNodeSelectorAndAffinity) {
  const std::string labels = R"({"labels":{"zone":"z1","gpus":"8"}})";
  check({
      {"a selector wants the label", labels, R"({"nodeSelector":{"zone":"z1"}})", ""},
      {"with this very value", labels, R"({"nodeSelector":{"zone":"z2"}})", kAffinity},
      {"all of its labels", labels, R"({"nodeSelector":{"zone":"z1","rack":"r"}})", kAffinity},
      {"In", labels, expression("zone", "In", R"("z0","z1")"), ""},
      {"In without the label", labels, expression("rack", "In", R"("z0")"), kAffinity},
      {"NotIn", labels, expression("zone", "NotIn", R"("z1")"), kAffinity},
      {"NotIn without the label", labels, expression("rack", "NotIn", R"("z1")"), ""},
      {"Exists", labels, expression("zone", "Exists", ""), ""},
      {"DoesNotExist", labels, expression("zone", "DoesNotExist", ""), kAffinity},
      {"Gt", labels, expression("gpus", "Gt", R"("7")"), ""},
      {"Gt means more", labels, expression("gpus", "Gt", R"("8")"), kAffinity},
      {"Lt", labels, expression("gpus", "Lt", R"("9")"), ""},
      {"Lt of what is no number", labels, expression("zone", "Lt", R"("9")"), kAffinity},
      {"one of several terms is enough", labels,
       required(R"({"matchExpressions":[{"key":"zone","operator":"In","values":["z9"]}]},
                   {"matchExpressions":[{"key":"zone","operator":"In","values":["z1"]}]})"),
       ""},
      {"a term without requirements matches nothing", labels, required("{}"), kAffinity},
      {"a name", labels,
       required(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]})"), ""},
      {"another name", labels,
       required(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["b"]}]})"),
       "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
      {"not this name", labels,
       required(R"({"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["a"]}]})"),
       kAffinity},
      {"two names at once", labels,
       required(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]},
                                   {"key":"metadata.name","operator":"In","values":["b"]}]})"),
       "0/1 nodes are available: pod affinity terms conflict."},
  });
}

TEST(Place, ByTaintsAndCordons) {
  const std::string cordoned = R"({"unschedulable":true})";
  const std::string evicting = R"({"taints":[{"key":"gone","effect":"NoExecute"}]})";
  const std::string soft = R"({"taints":[{"key":"old","effect":"PreferNoSchedule"}]})";
  const std::string gpu(kGpuTaint);
  check({
      {"a taint keeps out", gpu, "{}", kTaint},
      {"unless it is borne", gpu,
       R"({"tolerations":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]})", ""},
      {"with its value", gpu, R"({"tolerations":[{"key":"gpu","value":"no"}]})", kTaint},
      {"NoExecute keeps out too", evicting, "{}", kTaint},
      {"for a while is enough to come in", evicting,
       R"({"tolerations":[{"key":"gone","operator":"Exists","tolerationSeconds":5}]})", ""},
      {"PreferNoSchedule does not", soft, "{}", ""},
      {"a cordon keeps out", cordoned, "{}", kCordon},
      {"unless it is borne", cordoned,
       R"({"tolerations":[{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}]})", ""},
  });
}

TEST(Place, ByResources) {
  const std::string plain = "{}";
  const auto lack = [](std::string_view what) {
    return fmt::format("0/1 nodes are available: 1 {}.", what);
  };
  const std::string cpu = lack("Insufficient cpu"), memory = lack("Insufficient memory"),
                    disk = lack("Insufficient ephemeral-storage"),
                    gpu = lack("Insufficient nvidia.com/gpu"), pods = lack("Too many pods");
  check({
      {"all of the node may be taken", plain, asking(R"({"cpu":"4","memory":"8Gi"})"), ""},
      {"not more", plain, asking(R"({"cpu":"4001m"})"), cpu},
      {"memory", plain, asking(R"({"memory":"9Gi"})"), memory},
      {"storage that the node does not declare is not there", plain,
       asking(R"({"ephemeral-storage":"1"})"), disk},
      {"nor are devices", plain, asking(R"({"nvidia.com/gpu":"1"})"), gpu},
      {"unless none is wanted", plain, asking(R"({"nvidia.com/gpu":"0"})"), ""},
      {"devices", R"({"allocatable":{"pods":"1","nvidia.com/gpu":"8"}})",
       asking(R"({"nvidia.com/gpu":"8"})"), ""},
      {"a node without room for pods takes none", R"({"allocatable":{"cpu":"4"}})", "{}", pods},
  });
}

TEST(Place, WhatPodsHaveIsNotFree) {
  World world;
  world.with(node("a")).running("a", asking(R"({"cpu":"3"})"));
  EXPECT_EQ(world.refusal(asking(R"({"cpu":"2"})")),
            "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(world.place(asking(R"({"cpu":"1"})")).node, "a");
}

TEST(Place, ByHostPorts) {
  const auto port = [](std::string_view what) {
    return fmt::format(R"({{"containers":[{{"ports":[{{"containerPort":1,{}}}]}}]}})", what);
  };
  const struct {
    std::string_view sentence, taken, wanted;
    bool clash;
  } rows[] = {
      {"the same port", R"("hostPort":80)", R"("hostPort":80)", true},
      {"another port", R"("hostPort":80)", R"("hostPort":81)", false},
      {"another protocol", R"("hostPort":80)", R"("hostPort":80,"protocol":"UDP")", false},
      {"all addresses hold one of them", R"("hostPort":80)",
       R"("hostPort":80,"hostIP":"127.0.0.1")", true},
      {"one address is one of all", R"("hostPort":80,"hostIP":"127.0.0.1")", R"("hostPort":80)",
       true},
      {"two addresses", R"("hostPort":80,"hostIP":"127.0.0.1")",
       R"("hostPort":80,"hostIP":"127.0.0.2")", false},
      {"a port of the container only", R"("name":"x")", R"("name":"x")", false},
  };
  for (const auto& row : rows) {
    World world;
    world.with(node("a")).running("a", port(row.taken));
    EXPECT_EQ(world.refusal(port(row.wanted)),
              row.clash ? "0/1 nodes are available: 1 node(s) didn't have free ports for the "
                          "requested pod ports."
                        : "")
        << row.sentence;
  }
}

TEST(Place, SaysHowManyNodesLackWhatInTheOrderOfTheWords) {
  World world;
  world.with(node("a")).with(node("b", kGpuTaint)).with(node("c", kGpuTaint));
  EXPECT_EQ(world.place(asking(R"({"cpu":"5","memory":"9Gi"})")).refusal,
            "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, "
            "2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/3 "
            "nodes are available: "
            "3 Preemption is not helpful for scheduling.");
}

TEST(Place, SaysWherePreemptionMightHaveHelped) {
  World world;
  world.with(node("a")).with(node("b", kGpuTaint)).running("a", asking(R"({"cpu":"4"})"));
  EXPECT_EQ(world.place(asking(R"({"cpu":"1"})")).refusal,
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
            "no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption "
            "victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling.");
}

TEST(Place, SaysWhoNeverPreempts) {
  World world;
  world.with(node("a", kGpuTaint));
  EXPECT_EQ(world.place(R"({"preemptionPolicy":"Never"})").refusal,
            "0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to "
            "deallocate, preemption: not eligible "
            "due to preemptionPolicy=Never.");
}

TEST(Place, SaysThatThereAreNoNodes) {
  EXPECT_EQ(World().place("{}").refusal, "no nodes available to schedule pods");
}

// Recorded from kube-scheduler 1.36.3 with these three nodes and the pod on one of them.
TEST(Place, SaysWhatKubeSchedulerSaysOfTheSameCluster) {
  World world;
  world.with(node("a", R"({"labels":{"rack":"r1"}})"))
      .with(node("b", R"({"labels":{"rack":"r1"},"taints":[{"key":"gpu","effect":"NoSchedule"}]})"))
      .with(node("c", R"({"labels":{"rack":"r2"},"unschedulable":true})"))
      .running("a", R"({"labels":{"app":"web"},
                        "containers":[{"resources":{"requests":{"cpu":"3"}}}]})");
  const auto affinity = [](std::string_view kind, std::string_view app) {
    return fmt::format(
        R"({{"affinity":{{"{}":{{"requiredDuringSchedulingIgnoredDuringExecution":[
           {{"labelSelector":{{"matchLabels":{{"app":"{}"}}}},"topologyKey":"rack"}}]}}}}}})",
        kind, app);
  };
  const auto only = [](std::string_view name) {
    return required(fmt::format(
        R"({{"matchFields":[{{"key":"metadata.name","operator":"In","values":["{}"]}}]}})", name));
  };
  const std::string closed = "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. ";
  const std::string one_victim =
      "no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims "
      "found for incoming pod, 2 Preemption is not helpful for scheduling.";
  const std::string no_help =
      "no new claims to deallocate, preemption: 0/3 nodes are available: 3 "
      "Preemption is not helpful for scheduling.";
  const std::string begin = "0/3 nodes are available: ";
  const std::pair<std::string, std::string> rows[] = {
      {asking(R"({"cpu":"2"})"), begin + "1 Insufficient cpu, " + closed + one_victim},
      {asking(R"({"cpu":"5","memory":"9Gi"})"),
       begin + "1 Insufficient cpu, 1 Insufficient memory, " + closed + no_help},
      {asking(R"({"nvidia.com/gpu":"1"})"),
       begin + "1 Insufficient nvidia.com/gpu, " + closed + no_help},
      {R"({"nodeSelector":{"x":"y"}})",
       begin + "1 node(s) didn't match Pod's node affinity/selector, " + closed + no_help},
      {affinity("podAffinity", "db"),
       begin + "1 node(s) didn't match pod affinity rules, " + closed + no_help},
      {affinity("podAntiAffinity", "web"),
       begin + "1 node(s) didn't match pod anti-affinity rules, " + closed + one_victim},
      {only("zz"), begin + "3 node(s) didn't satisfy plugin(s) [NodeAffinity]. " + no_help},
      {only("b"), begin +
                      "1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) "
                      "[NodeAffinity]. " +
                      no_help},
      {R"({"labels":{"app":"web"},"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone",
           "whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}]})",
       begin + "1 node(s) didn't match pod topology spread constraints (missing required label), " +
           closed + no_help},
  };
  for (const auto& [pod, words] : rows) EXPECT_EQ(world.place(pod).refusal, words) << pod;
}

TEST(Place, PrefersRoomThenNames) {
  World world;
  world.with(node("b")).with(node("a")).with(node("c"));
  EXPECT_EQ(world.place("{}").node, "a");
  world.running("a", "{}");
  EXPECT_EQ(world.place("{}").node, "b") << "a pod there counts, whatever it asks for";
  EXPECT_EQ(world.place(asking(R"({"cpu":"4"})")).node, "b");
}

TEST(Place, PrefersWhatThePodPrefers) {
  World world;
  world.with(node("a"))
      .with(node("b", R"({"labels":{"disk":"ssd"}})"))
      .running("b", asking(R"({"cpu":"2"})"));
  EXPECT_EQ(world
                .place(R"({"affinity":{"nodeAffinity":{
                  "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":
                  {"matchExpressions":[{"key":"disk","operator":"In","values":["ssd"]}]}}]}}})")
                .node,
            "b");
}

TEST(Place, AvoidsTaintsThatSayRatherNot) {
  World world;
  world.with(node("a", R"({"taints":[{"key":"old","effect":"PreferNoSchedule"}]})"))
      .with(node("b"))
      .running("b", asking(R"({"cpu":"2"})"));
  EXPECT_EQ(world.place("{}").node, "b");
  EXPECT_EQ(world.place(R"({"tolerations":[{"key":"old","operator":"Exists"}]})").node, "a");
}

}  // namespace place_test
}  // namespace muster::scheduler
