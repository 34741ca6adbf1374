#include "sim/node_group.h"

#include <fmt/format.h>

#include <array>

#include "json/write.h"
#include "sim/scenario_values.h"

namespace muster::sim {
namespace {

using json::Value;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRoom{
    {{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "256"}}};

const api::Resource& nodes_resource() { return *api::Registry::builtin().find("", "v1", "nodes"); }

Status check_mapping(const Place& place) {
  if (place.is_missing() || place.value().is_object()) return {};
  return place.wrong("must be a mapping");
}

Status check_taints(const Place& taints) {
  if (!taints.is_missing() && !taints.value().is_array()) return taints.wrong("must be a list");
  for (const Place& taint : taints.items())
    MUSTER_CHECK(check_members(taint, {"key", "value", "effect"}));
  return {};
}

std::string node_manifest(const std::string& name, const NodeGroup& group) {
  json::Arena arena;
  Value room = Value::object(arena);
  for (const auto& [resource, amount] : kRoom) room.set(resource, amount);
  for (const auto& [resource, amount] : group.allocatable.members()) room.set(resource, amount);
  Value labels = Value::object(arena);
  labels.set("kubernetes.io/hostname", name);
  for (const auto& [key, value] : group.labels.members()) labels.set(key, value);
  const std::string taints =
      group.taints.is_null() ? "" : fmt::format(R"("taints":{})", json::write(group.taints));
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{1}}},"spec":{{{2}}},)"
      R"("status":{{"capacity":{3},"allocatable":{3},)"
      R"("conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady"}}]}}}})",
      name, json::write(labels), taints, json::write(room));
}

client::Operation patch_node(const std::string& node, std::string subresource, std::string patch) {
  return {.verb = client::Verb::kPatch,
          .resource = &nodes_resource(),
          .name = node,
          .subresource = std::move(subresource),
          .body = std::move(patch),
          .strict = true};
}

}  // namespace

Result<NodeGroup> read_node_group(const Place& place) {
  MUSTER_CHECK(check_members(place, {"count", "prefix", "labels", "taints", "allocatable"}));
  NodeGroup group;
  MUSTER_TRY(group.count, read_number(place.get("count"), 1, group.count));
  MUSTER_TRY(const std::string prefix, read_text(place.get("prefix")));
  if (!prefix.empty()) group.prefix = prefix;
  MUSTER_CHECK(check_mapping(place.get("labels")));
  MUSTER_CHECK(check_mapping(place.get("allocatable")));
  MUSTER_CHECK(check_taints(place.get("taints")));
  for (const auto& [key, label] : place.get("labels").members()) MUSTER_CHECK(read_text(label));
  group.labels = place.value().get("labels");
  group.taints = place.value().get("taints");
  group.allocatable = place.value().get("allocatable");
  return group;
}

std::vector<client::Operation> NodeNumbers::create(const NodeGroup& group) {
  std::vector<client::Operation> out;
  for (int i = 0; i < group.count; ++i) {
    const std::string name = fmt::format("{}-{}", group.prefix, next_[group.prefix]++);
    out.push_back({.verb = client::Verb::kCreate,
                   .resource = &nodes_resource(),
                   .name = name,
                   .body = node_manifest(name, group),
                   .strict = true});
  }
  return out;
}

client::Operation cordon_node(const std::string& node, bool cordoned) {
  return patch_node(node, "", fmt::format(R"({{"spec":{{"unschedulable":{}}}}})", cordoned));
}

client::Operation resize_node(const std::string& node, json::Value allocatable) {
  return patch_node(node, "status",
                    fmt::format(R"({{"status":{{"capacity":{0},"allocatable":{0}}}}})",
                                json::write(allocatable)));
}

}  // namespace muster::sim
