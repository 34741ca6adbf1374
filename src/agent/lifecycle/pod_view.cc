#include "agent/lifecycle/pod_view.h"

#include "api/views/job_set_names.h"
#include "base/duration.h"
#include "base/number.h"

namespace muster::agent {
namespace {

using json::Value;

std::optional<RestartPolicy> read_policy(Value text) {
  if (text.as_string() == "Always") return RestartPolicy::kAlways;
  if (text.as_string() == "OnFailure") return RestartPolicy::kOnFailure;
  if (text.as_string() == "Never") return RestartPolicy::kNever;
  return std::nullopt;
}

std::optional<std::int64_t> seconds_in(Value value) {
  if (!value.is_number()) return std::nullopt;
  return bounded_seconds(value.as_int());
}

RestartRule read_rule(Value rule) {
  RestartRule out;
  out.all_containers = rule.get("action").as_string() == "RestartAllContainers";
  out.in = rule.get({"exitCodes", "operator"}).as_string() != "NotIn";
  for (const Value code : rule.get({"exitCodes", "values"}).items())
    out.codes.push_back(code.as_int());
  return out;
}

ContainerView read_container(Value container, bool init) {
  ContainerView out;
  out.name = container.get("name").as_string();
  out.image = container.get("image").as_string();
  const auto policy = read_policy(container.get("restartPolicy"));
  if (init) out.role = policy == RestartPolicy::kAlways ? Role::kSidecar : Role::kInit;
  out.policy = policy;
  for (const Value rule : container.get("restartPolicyRules").items())
    out.rules.push_back(read_rule(rule));
  out.has_startup_probe = container.get("startupProbe").is_object();
  out.has_readiness_probe = container.get("readinessProbe").is_object();
  out.has_post_start = container.get({"lifecycle", "postStart"}).is_object();
  out.has_pre_stop = container.get({"lifecycle", "preStop"}).is_object();
  constexpr std::string_view kGrace = "terminationGracePeriodSeconds";
  out.startup_grace = seconds_in(container.get({"startupProbe", kGrace}));
  out.liveness_grace = seconds_in(container.get({"livenessProbe", kGrace}));
  return out;
}

std::string variable(Value container, std::string_view name) {
  for (const Value each : container.get("env").items()) {
    if (each.get("name").as_string() == name) return std::string(each.get("value").as_string());
  }
  return {};
}

// Only a pod that has the init container has a barrier, whatever its annotations say.
void read_barrier(Value annotations, PodView& pod) {
  const std::string_view where = annotations.get(api::annotation::kBarrier).as_string();
  const std::size_t slash = where.find('/');
  const auto at = pod.find(api::kBarrierContainer);
  if (slash == std::string_view::npos || !at || pod.containers[*at].role != Role::kInit) return;
  pod.containers[*at].barrier = true;
  const auto timeout =
      parse_number<std::int64_t>(annotations.get(api::annotation::kBarrierTimeout).as_string());
  pod.barrier = Barrier{
      .config_map = std::string(where.substr(0, slash)),
      .key = std::string(where.substr(slash + 1)),
      .timeout_seconds = timeout.transform(bounded_seconds),
      .size = parse_number<std::int64_t>(annotations.get(api::annotation::kBarrierSize).as_string())
                  .value_or(0)};
}

// What of a name a host can be called.
std::string label_of(std::string_view name) {
  constexpr std::size_t kMaxLabel = 63;
  name = name.substr(0, kMaxLabel);
  return std::string(name.substr(0, name.find_last_not_of("-.") + 1));
}

}  // namespace

std::optional<std::size_t> PodView::find(std::string_view container) const {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (containers[i].name == container) return i;
  }
  return std::nullopt;
}

PodView read_pod_view(Value pod) {
  PodView out;
  const Value metadata = pod.get("metadata");
  const Value spec = pod.get("spec");
  out.ns = metadata.get("namespace").as_string();
  out.name = metadata.get("name").as_string();
  out.uid = metadata.get("uid").as_string();
  out.generation = metadata.get("generation").as_int();
  out.policy = read_policy(spec.get("restartPolicy")).value_or(RestartPolicy::kAlways);
  for (const Value container : spec.get("initContainers").items())
    out.containers.push_back(read_container(container, true));
  for (const Value container : spec.get("containers").items())
    out.containers.push_back(read_container(container, false));
  out.grace = seconds_in(spec.get("terminationGracePeriodSeconds")).value_or(30);
  out.active_deadline = seconds_in(spec.get("activeDeadlineSeconds"));
  out.deleted = metadata.get("deletionTimestamp").is_string();
  out.deletion_grace = seconds_in(metadata.get("deletionGracePeriodSeconds"));
  for (const Value gate : spec.get("readinessGates").items())
    out.readiness_gates.emplace_back(gate.get("conditionType").as_string());
  const std::string_view hostname = spec.get("hostname").as_string();
  out.hostname = label_of(hostname.empty() ? out.name : hostname);
  const std::string_view subdomain = spec.get("subdomain").as_string();
  if (!hostname.empty() && !subdomain.empty())
    out.host = std::string(hostname) + "." + std::string(subdomain);
  read_barrier(metadata.get("annotations"), out);
  if (out.barrier)
    out.barrier->coordinator = variable(container_spec(pod, api::kBarrierContainer), "COORDINATOR");
  return out;
}

Value container_spec(Value pod, std::string_view container) {
  for (const std::string_view part : {"initContainers", "containers"}) {
    for (const Value each : pod.get({"spec", part}).items()) {
      if (each.get("name").as_string() == container) return each;
    }
  }
  return {};
}

Value container_spec(Value pod, std::size_t place) {
  const Value init = pod.get({"spec", "initContainers"});
  return place < init.size() ? init.item(place)
                             : pod.get({"spec", "containers"}).item(place - init.size());
}

}  // namespace muster::agent
