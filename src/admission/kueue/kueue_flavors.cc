// ResourceFlavor, Topology, AdmissionCheck and the two kinds of MultiKueue (spec:
// queueing 1.2, 1.7).
#include <algorithm>
#include <set>
#include <string>

#include "admission/kinds.h"
#include "admission/kueue/kueue.h"
#include "admission/pod/scheduling_validation.h"
#include "admission/rules/checks.h"
#include "admission/rules/custom_resource.h"
#include "json/write.h"

namespace muster::admission {
namespace {

void validate_flavor_rules(const Context&, Value flavor, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = flavor.get("spec");
  if (spec.has("topologyName") && spec.get("nodeLabels").empty())
    rule_broken(errors, path, "at least one nodeLabel is required when topology is set");
  const bool known_effects = std::ranges::all_of(spec.get("nodeTaints").items(), [](Value taint) {
    return is_taint_effect(text_of(taint, "effect"));
  });
  if (!known_effects)
    rule_broken(errors, path.child("nodeTaints"),
                "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'");
  check_toleration_rules(spec.get("tolerations"), path.child("tolerations"), errors);
}

void validate_flavor_transitions(const Context&, Value flavor, Value old, FieldErrors& errors) {
  const Value spec = flavor.get("spec");
  const Value before = old.get("spec");
  if (!before.has("topologyName")) return;
  struct Fixed {
    std::string_view key;
    std::string_view message;
  };
  constexpr Fixed kFixed[] = {
      {"nodeLabels", "nodeLabels are immutable when topologyName is set"},
      {"tolerations", "tolerations are immutable when topologyName is set"},
      {"topologyName", "topologyName is immutable when topologyName is set"},
  };
  for (const Fixed& field : kFixed)
    if (!json::equal(spec.get(field.key), before.get(field.key)))
      rule_broken(errors, Path("spec"), field.message);
}

void admit_flavor(const Context&, Value flavor, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = flavor.get("spec");
  api::validate_labels(spec.get("nodeLabels"), path.child("nodeLabels"), errors);
  validate_taints(spec.get("nodeTaints"), path.child("nodeTaints"), errors);
  check_toleration_keys(spec.get("tolerations"), path.child("tolerations"), errors);
}

bool all_different(Value list) {
  std::set<std::string> seen;
  return std::ranges::all_of(list.items(),
                             [&](Value item) { return seen.insert(json::write(item)).second; });
}

void validate_topology_rules(const Context&, Value topology, FieldErrors& errors) {
  constexpr std::string_view kHostname = "kubernetes.io/hostname";
  const Path path = Path("spec").child("levels");
  const Value levels = topology.get({"spec", "levels"});
  if (!all_different(levels)) rule_broken(errors, path, "must be unique");
  if (!find_by(levels, "nodeLabel", kHostname).is_null() &&
      text_of(levels.item(levels.size() - 1), "nodeLabel") != kHostname)
    rule_broken(
        errors, path,
        "the kubernetes.io/hostname label can only be used at the lowest level of topology");
}

void validate_topology_transitions(const Context&, Value topology, Value old, FieldErrors& errors) {
  require_same(errors, Path("spec").child("levels"), topology.get({"spec", "levels"}),
               old.get({"spec", "levels"}), kImmutable);
}

void validate_check_transitions(const Context&, Value check, Value old, FieldErrors& errors) {
  require_same(errors, Path("spec").child("controllerName"), check.get({"spec", "controllerName"}),
               old.get({"spec", "controllerName"}), kImmutable);
}

void validate_cluster_rules(const Context& context, Value cluster, FieldErrors& errors) {
  const Value source = cluster.get({"spec", "clusterSource"});
  if (is_v1beta1(context) || !source.is_object()) return;
  if (source.has("kubeConfig") == source.has("clusterProfileRef"))
    rule_broken(errors, Path("spec").child("clusterSource"),
                "exactly one of the fields in [kubeConfig clusterProfileRef] must be set");
}

void validate_config_rules(const Context& context, Value config, FieldErrors& errors) {
  if (!is_v1beta1(context) && !all_different(config.get({"spec", "clusters"})))
    rule_broken(errors, Path("spec").child("clusters"), "must be unique");
}

}  // namespace

constinit const Kind kResourceFlavor = {
    .group = "kueue.x-k8s.io",
    .name = "ResourceFlavor",
    .mutate = keep_while_in_use,
    .validate = validate_flavor_rules,
    .validate_update = validate_flavor_transitions,
    .admit_create = admit_flavor,
};

constinit const Kind kTopology = {
    .group = "kueue.x-k8s.io",
    .name = "Topology",
    .validate = validate_topology_rules,
    .validate_update = validate_topology_transitions,
};

constinit const Kind kAdmissionCheck = {
    .group = "kueue.x-k8s.io",
    .name = "AdmissionCheck",
    .validate_update = validate_check_transitions,
};

constinit const Kind kMultiKueueCluster = {
    .group = "kueue.x-k8s.io",
    .name = "MultiKueueCluster",
    .validate = validate_cluster_rules,
};

constinit const Kind kMultiKueueConfig = {
    .group = "kueue.x-k8s.io",
    .name = "MultiKueueConfig",
    .validate = validate_config_rules,
};

}  // namespace muster::admission
