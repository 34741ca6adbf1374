#include "sim/scenario.h"

#include <fmt/format.h>

#include <array>

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

Result<Duration> read_duration(Value value, Duration fallback) {
  if (value.is_null()) return fallback;
  if (const auto span = parse_duration(value.as_string())) return *span;
  return fail(Code::kBadRequest, fmt::format("{} is not a duration like 3s", json::write(value)));
}

Status check_members(Value object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(known, key) == known.end()) {
      return fail(Code::kBadRequest, fmt::format("unknown field \"{}\"", key));
    }
  }
  return {};
}

Result<const api::Resource*> resource_of_kind(std::string_view kind) {
  for (const api::Resource* resource : api::Registry::builtin().resources()) {
    if (resource->gvk.kind == kind) return resource;
  }
  return fail(Code::kBadRequest, fmt::format("unknown kind \"{}\"", kind));
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
    return fail(Code::kBadRequest,
                fmt::format("unknown kind {} of {}", json::write(manifest.get("kind")),
                            json::write(manifest.get("apiVersion"))));
  }
  const Value metadata = manifest.get("metadata");
  return client::Operation{.verb = client::Verb::kCreate,
                           .resource = resource,
                           .ns = namespace_of(*resource, metadata.get("namespace").as_string()),
                           .name = std::string(metadata.get("name").as_string()),
                           .body = json::write(manifest)};
}

Result<client::Operation> read_change(Value change, client::Verb verb) {
  MUSTER_CHECK(
      check_members(change, {"kind", "namespace", "name", "with", "subresource", "propagation"}));
  MUSTER_TRY(const api::Resource* resource, resource_of_kind(change.get("kind").as_string()));
  std::string body;
  if (verb == client::Verb::kPatch) {
    body = json::write(change.get("with"));
  } else if (const auto policy = change.get("propagation").as_string(); !policy.empty()) {
    body = fmt::format(R"({{"propagationPolicy":"{}"}})", policy);
  }
  return client::Operation{.verb = verb,
                           .resource = resource,
                           .ns = namespace_of(*resource, change.get("namespace").as_string()),
                           .name = std::string(change.get("name").as_string()),
                           .subresource = std::string(change.get("subresource").as_string()),
                           .body = std::move(body)};
}

Result<PodRule> read_rule(Value rule) {
  MUSTER_CHECK(check_members(rule, {"match", "outcome", "after", "exitCode"}));
  PodRule out;
  for (const auto& [key, value] : rule.get("match").members()) {
    out.match.emplace_back(key, value.as_string());
  }
  const auto known = std::ranges::find(kOutcomes, rule.get("outcome").as_string(),
                                       &std::pair<std::string_view, Outcome>::first);
  if (known == kOutcomes.end()) {
    return fail(Code::kBadRequest, fmt::format("outcome {} is none of succeed, fail, run, hang",
                                               json::write(rule.get("outcome"))));
  }
  out.outcome = known->second;
  MUSTER_TRY(out.after, read_duration(rule.get("after"), out.after));
  if (const Value code = rule.get("exitCode"); code.is_int()) {
    out.exit_code = static_cast<int>(code.as_int());
  }
  return out;
}

Result<ScenarioStep> read_step(Value step) {
  MUSTER_CHECK(check_members(step, {"after", "patch", "delete", "create", "loseNode"}));
  ScenarioStep out;
  MUSTER_TRY(out.after, read_duration(step.get("after"), {}));
  if (const Value patch = step.get("patch"); patch.is_object()) {
    MUSTER_TRY(out.operation, read_change(patch, client::Verb::kPatch));
  } else if (const Value removal = step.get("delete"); removal.is_object()) {
    MUSTER_TRY(out.operation, read_change(removal, client::Verb::kDelete));
  } else if (const Value manifest = step.get("create"); manifest.is_object()) {
    MUSTER_TRY(out.operation, read_create(manifest));
  } else if (const Value node = step.get("loseNode"); node.is_string()) {
    out.lost_node = node.as_string();
  } else {
    return fail(Code::kBadRequest, "a step is one of patch, delete, create, loseNode");
  }
  return out;
}

Result<Scenario> read_scenario(Value root) {
  MUSTER_CHECK(
      check_members(root, {"nodes", "featureGates", "objects", "pods", "steps", "horizon"}));
  Scenario out;
  out.feature_gates = root.get("featureGates").as_string();
  if (const Value nodes = root.get("nodes"); nodes.is_int()) {
    out.nodes = static_cast<int>(nodes.as_int());
  }
  for (const Value manifest : root.get("objects").items()) {
    MUSTER_TRY(auto operation, read_create(manifest));
    out.objects.push_back(std::move(operation));
  }
  for (const Value rule : root.get("pods").items()) {
    MUSTER_TRY(auto read, read_rule(rule));
    out.pods.push_back(std::move(read));
  }
  for (const Value step : root.get("steps").items()) {
    MUSTER_TRY(auto read, read_step(step));
    out.steps.push_back(std::move(read));
  }
  MUSTER_TRY(out.horizon, read_duration(root.get("horizon"), out.horizon));
  return out;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view name, std::string_view yaml) {
  json::Arena arena;
  MUSTER_TRY(const auto documents, json::parse_yaml(arena, yaml));
  if (documents.size() != 1) return fail(Code::kBadRequest, "a scenario is one YAML document");
  auto scenario = read_scenario(documents[0].root);
  if (!scenario) {
    return fail(Code::kBadRequest, fmt::format("{}: {}", name, scenario.error().message));
  }
  scenario->name = name;
  return scenario;
}

}  // namespace muster::sim
