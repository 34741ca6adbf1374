// For tests only: a cluster that is told in short, in the words of manifests.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <string>
#include <string_view>

#include "json/parse.h"
#include "scheduler/cluster.h"
#include "scheduler/place.h"

namespace muster::scheduler::testing {

inline json::Value parsed(json::Arena& arena, std::string_view text) {
  auto value = json::parse(arena, text);
  MUSTER_ASSERT(value.has_value(), "a test's manifest is sound");
  return *value;
}

// {"labels": …, "taints": …, "unschedulable": …, "allocatable": …}; by default 4 CPUs and 8 GiB.
inline Node node(std::string_view name, std::string_view has = "{}") {
  json::Arena arena;
  const json::Value given = parsed(arena, has);
  const json::Value object = parsed(
      arena, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{}},"status":{{"allocatable":
                             {{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
                         name));
  for (const json::Member& member : given.members()) {
    if (member.key == "labels") object.get("metadata").set("labels", member.value);
    if (member.key == "allocatable") object.get("status").set("allocatable", member.value);
    if (member.key == "taints" || member.key == "unschedulable")
      object.get("spec").set(member.key, member.value);
  }
  return read_node(object);
}

// {"name": …, "namespace": …, "labels": …} and everything that a pod's spec may say.
inline Pod pod(std::string_view asks = "{}") {
  json::Arena arena;
  const json::Value spec = parsed(arena, asks);
  const json::Value object = json::Value::object(arena);
  const json::Value metadata = object.object_at("metadata");
  metadata.set("name", "p");
  metadata.set("namespace", "default");
  for (const char* key : {"name", "namespace", "labels"})
    if (spec.has(key)) metadata.set(key, spec.get(key));
  metadata.set("uid", fmt::format("u-{}", metadata.get("name").as_string()));
  if (!spec.has("containers")) spec.array_at("containers").push_back(json::Value::object(arena));
  object.set("spec", spec);
  return read_pod(object);
}

// A pod with one container that requests these.
inline std::string asking(std::string_view requests) {
  return fmt::format(R"({{"containers":[{{"name":"main","resources":{{"requests":{}}}}}]}})",
                     requests);
}

class World {
 public:
  World& with(Node node) {
    cluster.put_node(std::move(node));
    return *this;
  }
  // A pod that runs there already.
  World& running(std::string_view node, std::string_view asks) {
    pods_.push_back(pod(asks));
    cluster.add_pod(pods_.back(), std::string(node));
    return *this;
  }
  Placement place(std::string_view asks) { return place(pod(asks)); }
  Placement place(const Pod& pod) {
    cluster.use_topologies(pod.wishes);
    Placement placement = scheduler::place(cluster, pod);
    cluster.drop_topologies(pod.wishes);
    return placement;
  }
  // What is said of the nodes, without the clause about claims and preemption.
  std::string refusal(std::string_view asks) {
    std::string text = place(asks).refusal;
    return text.substr(0, text.find(" no new claims"));
  }

  Cluster cluster;

 private:
  std::deque<Pod> pods_;
};

}  // namespace muster::scheduler::testing
