// The spec of a pod as a whole: each part has a file of its own.
#include <fmt/format.h>

#include <limits>
#include <set>

#include "admission/pod/container_validation.h"
#include "admission/pod/pod_validation.h"
#include "admission/pod/resource_validation.h"
#include "admission/pod/scheduling_validation.h"
#include "admission/pod/volume_validation.h"
#include "admission/rules/checks.h"

namespace muster::admission {
namespace {

constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();

void validate_host_network(Value spec, const Path& path, FieldErrors& errors) {
  if (!spec.get("hostNetwork").as_bool()) return;
  const Value containers = spec.get("containers");
  for (std::size_t c = 0; c < containers.size(); ++c) {
    const Value ports = containers.item(c).get("ports");
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const Value port = ports.item(p);
      if (int_of(port, "hostPort") != int_of(port, "containerPort"))
        errors.invalid(path.child("containers").index(c).child("ports").index(p).child("hostPort"),
                       port.get("hostPort"),
                       "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void validate_pod_security(Value spec, const Path& path, FieldErrors& errors) {
  validate_host_network(spec, path, errors);
  const Path at = path.child("securityContext");
  const Value context = spec.get("securityContext");
  if (spec.get("shareProcessNamespace").as_bool() && spec.get("hostPID").as_bool())
    errors.invalid(at.child("shareProcessNamespace"), Value::of(true),
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  for (const std::string_view key : {"fsGroup", "runAsUser", "runAsGroup"})
    validate_range(context, key, 0, kMostInt32, at, errors);
  const Value groups = context.get("supplementalGroups");
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups.item(i).as_int() < 0 || groups.item(i).as_int() > kMostInt32)
      errors.invalid(at.child("supplementalGroups").index(i), groups.item(i),
                     "must be between 0 and 2147483647, inclusive");
  validate_choice(context, "fsGroupChangePolicy", {"Always", "OnRootMismatch"}, at, errors);
}

void validate_dns(Value spec, const Path& path, FieldErrors& errors) {
  constexpr std::size_t kMostServers = 3;
  constexpr std::size_t kMostSearches = 32;
  const Value config = spec.get("dnsConfig");
  const Path at = path.child("dnsConfig");
  const Value servers = config.get("nameservers");
  if (text_of(spec, "dnsPolicy") == "None") {
    if (!config.is_object())
      return errors.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
    if (servers.empty())
      errors.required(at.child("nameservers"),
                      "must provide at least one DNS nameserver when `dnsPolicy` is None");
  }
  if (servers.size() > kMostServers)
    errors.invalid(at.child("nameservers"), servers, "must not have more than 3 nameservers");
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (!is_ip(servers.item(i).as_string()))
      errors.invalid(at.child("nameservers").index(i), servers.item(i),
                     "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  if (config.get("searches").size() > kMostSearches)
    errors.invalid(at.child("searches"), config.get("searches"),
                   "must not have more than 32 search paths");
}

void validate_host_aliases(Value aliases, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const Value alias = aliases.item(i);
    if (!is_ip(text_of(alias, "ip")))
      errors.invalid(path.index(i).child("ip"), text_of(alias, "ip"),
                     "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    const Value names = alias.get("hostnames");
    for (std::size_t n = 0; n < names.size(); ++n)
      add_faults(errors, path.index(i).child("hostnames").index(n), names.item(n).as_string(),
                 api::check_dns1123_subdomain(names.item(n).as_string()));
  }
}

void validate_names(Value spec, const Path& path, FieldErrors& errors) {
  struct Rule {
    std::string_view key;
    api::Faults (*check)(std::string_view);
  };
  constexpr Rule kBefore[] = {{"serviceAccountName", api::check_dns1123_subdomain},
                              {"nodeName", api::check_dns1123_subdomain}};
  constexpr Rule kAfter[] = {{"hostname", api::check_dns1123_label},
                             {"subdomain", api::check_dns1123_label}};
  const auto apply = [&](const Rule& rule) {
    if (const std::string_view name = text_of(spec, rule.key); !name.empty())
      add_faults(errors, path.child(rule.key), name, rule.check(name));
  };
  for (const Rule& rule : kBefore) apply(rule);
  validate_range(spec, "activeDeadlineSeconds", 1, kMostInt32, path, errors);
  for (const Rule& rule : kAfter) apply(rule);
}

void validate_scheduling_group(Value spec, const Path& path, FieldErrors& errors) {
  const Value group = spec.get("schedulingGroup");
  if (!group.is_object()) return;
  const Path at = path.child("schedulingGroup").child("podGroupName");
  const std::string_view name = text_of(group, "podGroupName");
  if (name.empty())
    errors.invalid(at, Value(), "must specify one of: `podGroupName`");
  else
    add_faults(errors, at, name, api::check_dns1123_subdomain(name));
}

// The same of a v1alpha1 Workload (spec: gang 1.3).
void validate_workload_ref(Value spec, const Path& path, FieldErrors& errors) {
  const Value ref = spec.get("workloadRef");
  if (!ref.is_object()) return;
  const Path at = path.child("workloadRef");
  if (has_value(spec, "schedulingGroup"))
    errors.forbidden(at, "may not be set together with schedulingGroup");
  struct Rule {
    std::string_view key;
    bool required;
    api::Faults (*check)(std::string_view);
  };
  constexpr Rule kRules[] = {{"name", true, api::check_dns1123_subdomain},
                             {"podGroup", true, api::check_dns1123_label},
                             {"podGroupReplicaKey", false, api::check_dns1123_label}};
  for (const auto& [key, required, check] : kRules) {
    const std::string_view name = text_of(ref, key);
    if (!name.empty())
      add_faults(errors, at.child(key), name, check(name));
    else if (required)
      errors.required(at.child(key));
  }
}

// What is allowed and hardly meant.
void warn_of_pod(const Context& context, Value spec) {
  if (!context.warnings) return;
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (std::size_t c = 0; c < spec.get(list).size(); ++c) {
      std::set<std::string_view> names;
      const Value env = spec.get(list).item(c).get("env");
      for (std::size_t i = 0; i < env.size(); ++i)
        if (!names.insert(text_of(env.item(i), "name")).second)
          context.warnings->push_back(fmt::format(
              "spec.{}[{}].env[{}]: hides previous definition of \"{}\", which may be dropped when "
              "using apply",
              list, c, i, text_of(env.item(i), "name")));
    }
  }
}

}  // namespace

void validate_pod_spec(Value spec, const Path& path, FieldErrors& errors) {
  const Value volumes = validate_volumes(spec.get("volumes"), path.child("volumes"), errors);
  validate_all_containers(spec, volumes, path, errors);
  require_choice(spec, "restartPolicy", {"Always", "OnFailure", "Never"}, path, errors);
  require_choice(spec, "dnsPolicy", {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
                 path, errors);
  api::validate_labels(spec.get("nodeSelector"), path.child("nodeSelector"), errors);
  validate_pod_security(spec, path, errors);
  validate_affinity(spec.get("affinity"), path.child("affinity"), errors);
  validate_dns(spec, path, errors);
  const Value readiness = spec.get("readinessGates");
  for (std::size_t i = 0; i < readiness.size(); ++i) {
    const std::string_view type = text_of(readiness.item(i), "conditionType");
    add_faults(errors, path.child("readinessGates").index(i).child("conditionType"), type,
               api::check_qualified_name(type));
  }
  validate_scheduling_gates(spec.get("schedulingGates"), path.child("schedulingGates"), errors);
  validate_spread_constraints(spec.get("topologySpreadConstraints"),
                              path.child("topologySpreadConstraints"), errors);
  validate_names(spec, path, errors);
  validate_tolerations(spec.get("tolerations"), path.child("tolerations"), errors);
  validate_host_aliases(spec.get("hostAliases"), path.child("hostAliases"), errors);
  if (const std::string_view name = text_of(spec, "priorityClassName"); !name.empty())
    add_faults(errors, path.child("priorityClassName"), name, api::check_dns1123_subdomain(name));
  validate_choice(spec, "preemptionPolicy", {"PreemptLowerPriority", "Never"}, path, errors);
  validate_resource_list(spec.get("overhead"), path.child("overhead"), errors);
  if (const Value os = spec.get("os");
      os.is_object() && text_of(os, "name") != "linux" && text_of(os, "name") != "windows") {
    constexpr std::string_view kSystems[] = {"linux", "windows"};
    errors.not_supported(path.child("os"), text_of(os, "name"), kSystems);
  }
  validate_scheduling_group(spec, path, errors);
  validate_workload_ref(spec, path, errors);
}

void validate_pod_template(Value pod_template, const Path& path, FieldErrors& errors) {
  const Value metadata = pod_template.get("metadata");
  api::validate_labels(metadata.get("labels"), path.child("labels"), errors);
  api::validate_annotations(metadata.get("annotations"), path.child("annotations"), errors);
  validate_pod_spec(pod_template.get("spec"), path.child("spec"), errors);
  if (!pod_template.get({"spec", "ephemeralContainers"}).empty())
    errors.add("FieldValueForbidden", path.child("spec").child("ephemeralContainers"),
               "Forbidden: ephemeral containers not allowed in pod template");
}

void validate_pod(const Context& context, Value pod, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = pod.get("spec");
  validate_pod_spec(spec, path, errors);
  if (context.operation != Operation::kCreate) return;
  if (!spec.get("ephemeralContainers").empty())
    errors.forbidden(path.child("ephemeralContainers"), "cannot be set on create");
  if (!spec.get("schedulingGates").empty() && !text_of(spec, "nodeName").empty())
    errors.forbidden(path.child("nodeName"),
                     "cannot be set until all schedulingGates have been cleared");
  if (errors.empty()) warn_of_pod(context, spec);
}

}  // namespace muster::admission
