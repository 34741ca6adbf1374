#include "sim/scenario.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/duration.h"
#include "json/write.h"
#include "json/yaml.h"

namespace muster::sim {
namespace {

using json::Value;

constexpr std::array<std::pair<std::string_view, Outcome>, 4> kOutcomes{{
    {"succeed", Outcome::kSucceed},
    {"fail", Outcome::kFail},
    {"run", Outcome::kRun},
    {"hang", Outcome::kHang},
}};

std::unexpected<Error> wrong(std::string why) { return fail(Code::kBadRequest, std::move(why)); }

Result<Duration> read_duration(Value value, Duration fallback) {
  if (value.is_null()) return fallback;
  if (const auto span = parse_duration(value.as_string())) return *span;
  return wrong(fmt::format("{} is not a duration like 3s", json::write(value)));
}

Status check_members(Value object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return wrong("must be a mapping");
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(known, key) == known.end()) {
      return wrong(fmt::format("unknown field \"{}\"", key));
    }
  }
  return {};
}

Result<std::string> read_text(Value object, std::string_view field) {
  const Value value = object.get(field);
  if (value.is_null() || value.is_string()) return std::string(value.as_string());
  return wrong(fmt::format("{} must be a text, not {}", field, json::write(value)));
}

Result<int> read_number(Value object, std::string_view field, int least, int fallback) {
  constexpr int kMost = 10'000;
  const Value value = object.get(field);
  if (value.is_null()) return fallback;
  if (value.is_int() && value.as_int() >= least && value.as_int() <= kMost)
    return static_cast<int>(value.as_int());
  return wrong(fmt::format("{} must be a number from {} to {}, not {}", field, least, kMost,
                           json::write(value)));
}

// An error says which entry it is about: "pods[1]: …".
template <typename T>
Result<std::vector<T>> read_list(Value object, std::string_view field, Result<T> (*read)(Value)) {
  const Value list = object.get(field);
  if (!list.is_null() && !list.is_array()) return wrong(fmt::format("{} must be a list", field));
  std::vector<T> out;
  for (const Value entry : list.items()) {
    Result<T> each = read(entry);
    if (!each) return wrong(fmt::format("{}[{}]: {}", field, out.size(), each.error().message));
    out.push_back(*std::move(each));
  }
  return out;
}

Result<const api::Resource*> resource_of_kind(std::string_view kind) {
  for (const api::Resource* resource : api::Registry::builtin().resources()) {
    if (resource->gvk.kind == kind) return resource;
  }
  return wrong(fmt::format("unknown kind \"{}\"", kind));
}

// Scenarios live in the namespace default unless they say otherwise.
std::string namespace_of(const api::Resource& resource, std::string_view said) {
  if (!resource.namespaced) return {};
  return said.empty() ? "default" : std::string(said);
}

Result<client::Operation> read_create(Value manifest) {
  const api::Resource* resource = api::Registry::builtin().find_kind(
      manifest.get("apiVersion").as_string(), manifest.get("kind").as_string());
  if (resource == nullptr) {
    return wrong(fmt::format("unknown kind {} of {}", json::write(manifest.get("kind")),
                             json::write(manifest.get("apiVersion"))));
  }
  const Value metadata = manifest.get("metadata");
  return client::Operation{.verb = client::Verb::kCreate,
                           .resource = resource,
                           .ns = namespace_of(*resource, metadata.get("namespace").as_string()),
                           .name = std::string(metadata.get("name").as_string()),
                           .body = json::write(manifest),
                           .strict = true};
}

Result<client::Operation> read_change(Value change, client::Verb verb) {
  const bool is_patch = verb == client::Verb::kPatch;
  MUSTER_CHECK(check_members(
      change, {"kind", "namespace", "name", "subresource", is_patch ? "with" : "propagation"}));
  MUSTER_TRY(const api::Resource* resource, resource_of_kind(change.get("kind").as_string()));
  MUSTER_TRY(const std::string ns, read_text(change, "namespace"));
  MUSTER_TRY(std::string name, read_text(change, "name"));
  MUSTER_TRY(std::string subresource, read_text(change, "subresource"));
  MUSTER_TRY(const std::string propagation, read_text(change, "propagation"));
  if (name.empty()) return wrong("a name is missing");
  if (is_patch && !change.get("with").is_object())
    return wrong("with must be a mapping: the patch");
  std::string body;
  if (is_patch) body = json::write(change.get("with"));
  if (!propagation.empty()) body = fmt::format(R"({{"propagationPolicy":"{}"}})", propagation);
  return client::Operation{.verb = verb,
                           .resource = resource,
                           .ns = namespace_of(*resource, ns),
                           .name = std::move(name),
                           .subresource = std::move(subresource),
                           .body = std::move(body),
                           .strict = is_patch};
}

Result<PodRule> read_rule(Value rule) {
  MUSTER_CHECK(check_members(rule, {"match", "outcome", "after", "exitCode"}));
  PodRule out;
  const Value match = rule.get("match");
  if (!match.is_null() && !match.is_object()) return wrong("match must be a mapping of labels");
  for (const auto& [key, value] : match.members()) {
    MUSTER_TRY(std::string label, read_text(match, key));  // 0 without quotes would match nothing
    out.match.emplace_back(key, std::move(label));
  }
  const auto known = std::ranges::find(kOutcomes, rule.get("outcome").as_string(),
                                       &std::pair<std::string_view, Outcome>::first);
  if (known == kOutcomes.end()) {
    return wrong(fmt::format("outcome {} is none of succeed, fail, run, hang",
                             json::write(rule.get("outcome"))));
  }
  out.outcome = known->second;
  MUSTER_TRY(out.after, read_duration(rule.get("after"), out.after));
  MUSTER_TRY(out.exit_code, read_number(rule, "exitCode", 1, out.exit_code));
  return out;
}

Result<ScenarioStep> read_step(Value step) {
  MUSTER_CHECK(check_members(step, {"after", "patch", "delete", "create", "loseNode"}));
  if (step.size() != (step.has("after") ? 2u : 1u))
    return wrong("a step is one of patch, delete, create, loseNode");
  ScenarioStep out;
  MUSTER_TRY(out.after, read_duration(step.get("after"), {}));
  if (step.has("patch")) {
    MUSTER_TRY(out.operation, read_change(step.get("patch"), client::Verb::kPatch));
  } else if (step.has("delete")) {
    MUSTER_TRY(out.operation, read_change(step.get("delete"), client::Verb::kDelete));
  } else if (step.has("create")) {
    MUSTER_TRY(out.operation, read_create(step.get("create")));
  } else {
    MUSTER_TRY(out.lost_node, read_text(step, "loseNode"));
  }
  return out;
}

std::string address_of(const client::Operation& operation) {
  return fmt::format("{} {}/{}", operation.resource->gvk.kind, operation.ns, operation.name);
}

// Steps name JobSets and nodes that the scenario has by then. What controllers make cannot be known
// here, and may rightly be gone.
Status check_targets(const Scenario& scenario) {
  std::set<std::string> known;
  for (int i = 0; i < scenario.nodes; ++i) known.insert("Node /" + node_name(i));
  for (const client::Operation& object : scenario.objects) known.insert(address_of(object));
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    const ScenarioStep& step = scenario.steps[i];
    const bool is_loss = step.operation.resource == nullptr;
    const std::string target = is_loss ? "Node /" + step.lost_node : address_of(step.operation);
    if (!is_loss && step.operation.verb == client::Verb::kCreate) known.insert(target);
    if ((is_loss || target.starts_with("JobSet ")) && !known.contains(target))
      return wrong(fmt::format("steps[{}]: there is no {} by then", i, target));
  }
  return {};
}

Result<Scenario> read_scenario(Value root) {
  MUSTER_CHECK(
      check_members(root, {"nodes", "featureGates", "objects", "pods", "steps", "horizon"}));
  Scenario out;
  MUSTER_TRY(out.feature_gates, read_text(root, "featureGates"));
  MUSTER_TRY(out.nodes, read_number(root, "nodes", 0, out.nodes));
  MUSTER_TRY(out.objects, read_list(root, "objects", read_create));
  MUSTER_TRY(out.pods, read_list(root, "pods", read_rule));
  MUSTER_TRY(out.steps, read_list(root, "steps", read_step));
  MUSTER_TRY(out.horizon, read_duration(root.get("horizon"), out.horizon));
  MUSTER_CHECK(check_targets(out));
  return out;
}

}  // namespace

std::string node_name(int index) { return fmt::format("node-{}", index); }

Result<Scenario> parse_scenario(std::string_view name, std::string_view yaml) {
  json::Arena arena;
  MUSTER_TRY(const auto documents, json::parse_yaml(arena, yaml));
  if (documents.size() != 1) return wrong(fmt::format("{}: a scenario is one YAML document", name));
  auto scenario = read_scenario(documents[0].root);
  if (!scenario) return wrong(fmt::format("{}: {}", name, scenario.error().message));
  scenario->name = name;
  return scenario;
}

}  // namespace muster::sim
