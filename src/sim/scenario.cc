#include "sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "json/write.h"
#include "json/yaml.h"
#include "sim/kinds.h"
#include "sim/node_group.h"
#include "sim/place.h"
#include "sim/scenario_values.h"

namespace muster::sim {
namespace {

using json::Value;

constexpr std::array<std::pair<std::string_view, Outcome>, 4> kOutcomes{{
    {"succeed", Outcome::kSucceed},
    {"fail", Outcome::kFail},
    {"run", Outcome::kRun},
    {"hang", Outcome::kHang},
}};
constexpr std::string_view kSteps =
    "patch, delete, create, addNodes, loseNode, cordon, uncordon, drain, resizeNode";

Result<std::string> read_name(const Place& place) {
  MUSTER_TRY(std::string name, read_text(place));
  if (name.empty()) return place.wrong("a name is missing");
  return name;
}

// Scenarios live in the namespace default unless they say otherwise.
std::string namespace_of(const api::Resource& resource, std::string_view said) {
  if (!resource.namespaced) return {};
  return said.empty() ? "default" : std::string(said);
}

Result<const api::Resource*> read_kind(const Place& place) {
  MUSTER_TRY(const std::string api_version, read_text(place.get("apiVersion")));
  MUSTER_TRY(const std::string kind, read_text(place.get("kind")));
  auto found = find_kind(api_version, kind);
  if (!found) return place.get("kind").wrong(found.error().message);
  return *found;
}

Result<client::Operation> read_create(const Place& manifest) {
  if (manifest.get("apiVersion").is_missing())
    return manifest.get("apiVersion").wrong("is missing");
  MUSTER_TRY(const api::Resource* resource, read_kind(manifest));
  MUSTER_CHECK(check_fields(manifest, *resource->schema));
  const Value metadata = manifest.value().get("metadata");
  return client::Operation{.verb = client::Verb::kCreate,
                           .resource = resource,
                           .ns = namespace_of(*resource, metadata.get("namespace").as_string()),
                           .name = std::string(metadata.get("name").as_string()),
                           .body = json::write(manifest.value()),
                           .strict = true};
}

// What patches and deletions begin with: which object they are about.
Result<client::Operation> read_target(const Place& change, client::Verb verb) {
  MUSTER_TRY(const api::Resource* resource, read_kind(change));
  MUSTER_TRY(const std::string ns, read_text(change.get("namespace")));
  MUSTER_TRY(std::string name, read_name(change.get("name")));
  return client::Operation{.verb = verb,
                           .resource = resource,
                           .ns = namespace_of(*resource, ns),
                           .name = std::move(name)};
}

Result<client::Operation> read_patch(const Place& change) {
  MUSTER_CHECK(
      check_members(change, {"apiVersion", "kind", "namespace", "name", "subresource", "with"}));
  MUSTER_TRY(client::Operation out, read_target(change, client::Verb::kPatch));
  MUSTER_TRY(out.subresource, read_text(change.get("subresource")));
  const Place with = change.get("with");
  if (!with.value().is_object()) return with.wrong("must be a mapping: the patch");
  const bool is_view_of_object = out.subresource.empty() || out.subresource == "status";
  if (is_view_of_object) MUSTER_CHECK(check_fields(with, *out.resource->schema));
  out.body = json::write(with.value());
  out.strict = true;
  return out;
}

Result<client::Operation> read_delete(const Place& change) {
  MUSTER_CHECK(check_members(change, {"apiVersion", "kind", "namespace", "name", "propagation"}));
  MUSTER_TRY(client::Operation out, read_target(change, client::Verb::kDelete));
  MUSTER_TRY(const std::string propagation, read_text(change.get("propagation")));
  if (!propagation.empty()) out.body = fmt::format(R"({{"propagationPolicy":"{}"}})", propagation);
  return out;
}

Result<client::Operation> read_resize(const Place& change) {
  MUSTER_CHECK(check_members(change, {"name", "allocatable"}));
  MUSTER_TRY(const std::string node, read_name(change.get("name")));
  const Place allocatable = change.get("allocatable");
  if (!allocatable.value().is_object()) return allocatable.wrong("must be a mapping");
  return resize_node(node, allocatable.value());
}

Result<PodRule> read_rule(const Place& rule) {
  MUSTER_CHECK(check_members(rule, {"match", "outcome", "after", "exitCode"}));
  PodRule out;
  const Place match = rule.get("match");
  if (!match.is_missing() && !match.value().is_object())
    return match.wrong("must be a mapping of labels");
  for (const auto& [key, value] : match.members()) {
    MUSTER_TRY(std::string label, read_text(value));  // 0 without quotes would match nothing
    out.match.emplace_back(key, std::move(label));
  }
  const Place outcome = rule.get("outcome");
  const auto known = std::ranges::find(kOutcomes, outcome.value().as_string(),
                                       &std::pair<std::string_view, Outcome>::first);
  if (known == kOutcomes.end()) {
    return outcome.wrong(
        fmt::format("{} is none of succeed, fail, run, hang", json::write(outcome.value())));
  }
  out.outcome = known->second;
  MUSTER_TRY(out.after, read_duration(rule.get("after"), out.after));
  MUSTER_TRY(out.exit_code, read_number(rule.get("exitCode"), 1, out.exit_code));
  return out;
}

Result<ScenarioStep> read_step(const Place& step, NodeNumbers& numbers) {
  MUSTER_CHECK(check_members(step, {"after", "patch", "delete", "create", "addNodes", "loseNode",
                                    "cordon", "uncordon", "drain", "resizeNode"}));
  if (step.value().size() != (step.has("after") ? 2u : 1u))
    return step.wrong(fmt::format("a step is one of {}", kSteps));
  ScenarioStep out;
  MUSTER_TRY(out.after, read_duration(step.get("after"), {}));
  const auto writes = [&out](Result<client::Operation> read) -> Status {
    if (!read) return std::unexpected(std::move(read).error());
    out.writes.push_back(*std::move(read));
    return {};
  };
  if (step.has("patch")) {
    MUSTER_CHECK(writes(read_patch(step.get("patch"))));
  } else if (step.has("delete")) {
    MUSTER_CHECK(writes(read_delete(step.get("delete"))));
  } else if (step.has("create")) {
    MUSTER_CHECK(writes(read_create(step.get("create"))));
  } else if (step.has("resizeNode")) {
    MUSTER_CHECK(writes(read_resize(step.get("resizeNode"))));
  } else if (step.has("addNodes")) {
    MUSTER_TRY(const NodeGroup group, read_node_group(step.get("addNodes")));
    out.writes = numbers.create(group);
  } else if (step.has("loseNode")) {
    MUSTER_TRY(out.lost_node, read_name(step.get("loseNode")));
  } else if (step.has("drain")) {
    MUSTER_TRY(out.drained_node, read_name(step.get("drain")));
  } else {
    const bool cordons = step.has("cordon");
    MUSTER_TRY(const std::string node, read_name(step.get(cordons ? "cordon" : "uncordon")));
    out.writes.push_back(cordon_node(node, cordons));
  }
  return out;
}

std::string node_address(const std::string& node) { return "Node " + node; }

std::string address_of(const client::Operation& operation) {
  return fmt::format("{} {}{}{}", operation.resource->gvk.kind, operation.ns,
                     operation.ns.empty() ? "" : "/", operation.name);
}

// What a step is about, if that can be known: JobSets and nodes. What controllers make cannot be
// known here, and may rightly be gone.
std::vector<std::string> targets_of(const ScenarioStep& step) {
  std::vector<std::string> out;
  for (const std::string& node : {step.lost_node, step.drained_node}) {
    if (!node.empty()) out.push_back(node_address(node));
  }
  for (const client::Operation& write : step.writes) {
    const std::string_view kind = write.resource->gvk.kind;
    if (write.verb != client::Verb::kCreate && (kind == "JobSet" || kind == "Node"))
      out.push_back(address_of(write));
  }
  return out;
}

// Steps name JobSets and nodes that the scenario has by then.
Status check_targets(const Scenario& scenario, const Place& steps) {
  std::set<std::string> known;
  for (const auto* created : {&scenario.nodes, &scenario.objects}) {
    for (const client::Operation& object : *created) known.insert(address_of(object));
  }
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    const ScenarioStep& step = scenario.steps[i];
    for (const client::Operation& write : step.writes) {
      if (write.verb == client::Verb::kCreate) known.insert(address_of(write));
    }
    for (const std::string& target : targets_of(step)) {
      if (!known.contains(target))
        return steps.items()[i].wrong(fmt::format("there is no {} by then", target));
    }
    if (!step.lost_node.empty()) known.erase(node_address(step.lost_node));
  }
  return {};
}

Result<std::vector<client::Operation>> read_nodes(const Place& nodes, NodeNumbers& numbers) {
  constexpr int kUsualNodes = 4;
  if (!nodes.value().is_array()) {
    NodeGroup alike;
    MUSTER_TRY(alike.count, read_number(nodes, 0, kUsualNodes));
    return numbers.create(alike);
  }
  MUSTER_TRY(const auto groups, read_list<NodeGroup>(nodes, read_node_group));
  std::vector<client::Operation> out;
  for (const NodeGroup& group : groups) {
    for (client::Operation& node : numbers.create(group)) out.push_back(std::move(node));
  }
  return out;
}

Result<const api::Resource*> read_compared(const Place& place) {
  MUSTER_CHECK(check_members(place, {"apiVersion", "kind"}));
  return read_kind(place);
}

Result<Scenario> read_scenario(const Place& root) {
  MUSTER_CHECK(check_members(root, {"nodes", "featureGates", "processes", "objects", "pods",
                                    "steps", "alsoCompare", "horizon"}));
  Scenario out;
  NodeNumbers numbers;
  MUSTER_TRY(out.feature_gates, read_text(root.get("featureGates")));
  MUSTER_TRY(out.nodes, read_nodes(root.get("nodes"), numbers));
  MUSTER_TRY(out.processes, read_processes(root.get("processes")));
  MUSTER_TRY(out.objects, read_list<client::Operation>(root.get("objects"), read_create));
  MUSTER_TRY(out.pods, read_list<PodRule>(root.get("pods"), read_rule));
  const Place steps = root.get("steps");
  if (!steps.is_missing() && !steps.value().is_array()) return steps.wrong("must be a list");
  for (const Place& each : steps.items()) {
    MUSTER_TRY(ScenarioStep step, read_step(each, numbers));
    out.steps.push_back(std::move(step));
  }
  MUSTER_TRY(const auto also,
             read_list<const api::Resource*>(root.get("alsoCompare"), read_compared));
  out.compared = compared_kinds();
  for (const api::Resource* kind : also) {
    const bool is_new =
        std::ranges::find(out.compared, kind->id, &api::Resource::id) == out.compared.end();
    if (is_new) out.compared.push_back(kind);
  }
  MUSTER_TRY(out.horizon, read_duration(root.get("horizon"), out.horizon));
  MUSTER_CHECK(check_targets(out, steps));
  return out;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view name, std::string_view yaml) {
  const auto wrong = [name](std::string_view why) {
    return fail(Code::kBadRequest, fmt::format("{}: {}", name, why));
  };
  json::Arena arena;
  auto documents = json::parse_yaml(arena, yaml);
  if (!documents) return wrong(documents.error().message);
  if (documents->size() != 1) return wrong("a scenario is one YAML document");
  const json::YamlDocument& document = documents->front();
  if (!document.duplicates.empty()) return wrong(document.duplicates.front());
  MUSTER_TRY(Scenario scenario, read_scenario(Place(name, document)));
  scenario.name = name;
  return scenario;
}

}  // namespace muster::sim
