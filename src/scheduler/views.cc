#include "scheduler/views.h"

#include <algorithm>

#include "api/values/requirement.h"
#include "api/views/conditions.h"
#include "api/views/job_set_names.h"
#include "api/views/pod_phase.h"
#include "api/views/views.h"

namespace muster::scheduler {
namespace {

using api::Requirement;
using json::Value;

constexpr std::string_view kSchedulerName = "default-scheduler";

std::string text(Value object, std::string_view key) {
  return std::string(object.get(key).as_string());
}

Requirement::Op read_operator(std::string_view word) {
  using enum Requirement::Op;
  if (word == "In") return kIn;
  if (word == "NotIn") return kNotIn;
  if (word == "DoesNotExist") return kNotExists;
  if (word == "Gt") return kGreater;
  if (word == "Lt") return kLess;
  return kExists;
}

std::vector<Requirement> read_requirements(Value expressions) {
  std::vector<Requirement> out;
  out.reserve(expressions.size());
  for (const Value expression : expressions.items()) {
    Requirement requirement{.key = text(expression, "key"),
                            .op = read_operator(expression.get("operator").as_string()),
                            .values = {}};
    for (const Value value : expression.get("values").items())
      requirement.values.emplace_back(value.as_string());
    out.push_back(std::move(requirement));
  }
  return out;
}

std::vector<Requirement> read_selector(Value selector) {
  std::vector<Requirement> out = read_requirements(selector.get("matchExpressions"));
  for (const json::Member& label : selector.get("matchLabels").members()) {
    out.push_back({.key = std::string(label.key),
                   .op = Requirement::Op::kIn,
                   .values = {std::string(label.value.as_string())}});
  }
  return out;
}

NodeTerm read_node_term(Value term) {
  return {.labels = read_requirements(term.get("matchExpressions")),
          .names = read_requirements(term.get("matchFields"))};
}

PodTerm read_pod_term(Value term, const std::string& own_ns) {
  PodTerm out{.topology_key = text(term, "topologyKey"),
              .namespaces = {},
              .of_namespaces = {},
              .of_nobody = term.get("labelSelector").is_null(),
              .labels = read_selector(term.get("labelSelector"))};
  for (const Value ns : term.get("namespaces").items()) out.namespaces.emplace_back(ns.as_string());
  if (const Value selector = term.get("namespaceSelector"); !selector.is_null())
    out.of_namespaces = read_selector(selector);
  if (out.namespaces.empty() && !out.of_namespaces) out.namespaces.push_back(own_ns);
  return out;
}

std::vector<PodTerm> read_pod_terms(Value affinity, const std::string& own_ns) {
  std::vector<PodTerm> out;
  for (const Value term : affinity.get("requiredDuringSchedulingIgnoredDuringExecution").items())
    out.push_back(read_pod_term(term, own_ns));
  return out;
}

void read_preferred_pods(Wishes& out, Value affinity, const std::string& own_ns, int sign) {
  for (const Value each : affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items()) {
    out.preferred_pods.push_back({.weight = sign * each.get("weight").as_int(),
                                  .term = read_pod_term(each.get("podAffinityTerm"), own_ns)});
  }
}

void read_node_affinity(Wishes& out, Value affinity) {
  if (const Value required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution");
      !required.is_null()) {
    out.required_nodes.emplace();
    for (const Value term : required.get("nodeSelectorTerms").items())
      out.required_nodes->push_back(read_node_term(term));
  }
  for (const Value each : affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items()) {
    out.preferred_nodes.push_back(
        {.weight = each.get("weight").as_int(), .term = read_node_term(each.get("preference"))});
  }
}

std::vector<SpreadConstraint> read_spread(Value constraints, const Labels& own_labels) {
  std::vector<SpreadConstraint> out;
  for (const Value each : constraints.items()) {
    if (each.get("whenUnsatisfiable").as_string() != "DoNotSchedule") continue;
    const Value min_domains = each.get("minDomains");
    const Value selector = each.get("labelSelector");
    SpreadConstraint constraint{
        .topology_key = text(each, "topologyKey"),
        .max_skew = each.get("maxSkew").as_int(),
        .min_domains = min_domains.is_null() ? 1 : min_domains.as_int(),
        .honors_affinity = each.get("nodeAffinityPolicy").as_string() != "Ignore",
        .honors_taints = each.get("nodeTaintsPolicy").as_string() == "Honor",
        .of_nobody = selector.is_null(),
        .labels = read_selector(selector)};
    for (const Value key : each.get("matchLabelKeys").items()) {
      if (const auto value = find_label(own_labels, key.as_string())) {
        constraint.labels.push_back({.key = std::string(key.as_string()),
                                     .op = Requirement::Op::kIn,
                                     .values = {std::string(*value)}});
      }
    }
    out.push_back(std::move(constraint));
  }
  return out;
}

void read_ports(Wishes& out, Value container) {
  for (const Value port : container.get("ports").items()) {
    const std::int64_t number = port.get("hostPort").as_int();
    if (number <= 0) continue;
    HostPort wish{.ip = text(port, "hostIP"), .protocol = text(port, "protocol"), .port = number};
    if (wish.ip.empty()) wish.ip = kAnyAddress;
    if (wish.protocol.empty()) wish.protocol = "TCP";
    out.ports.push_back(std::move(wish));
  }
}

Wishes read_wishes(Value spec, const std::string& own_ns) {
  Wishes out;
  out.demand = read_demand(spec);
  out.node_selector = read_labels(spec.get("nodeSelector"));
  out.tolerations = api::read_tolerations(spec.get("tolerations"));
  const Value affinity = spec.get("affinity");
  read_node_affinity(out, affinity.get("nodeAffinity"));
  const Value near = affinity.get("podAffinity");
  const Value apart = affinity.get("podAntiAffinity");
  out.near = read_pod_terms(near, own_ns);
  out.apart = read_pod_terms(apart, own_ns);
  read_preferred_pods(out, near, own_ns, 1);
  read_preferred_pods(out, apart, own_ns, -1);
  for (const Value container : spec.get("containers").items()) read_ports(out, container);
  for (const Value container : spec.get("initContainers").items())
    if (container.get("restartPolicy").as_string() == "Always") read_ports(out, container);
  out.never_preempts = spec.get("preemptionPolicy").as_string() == "Never";
  return out;
}

void read_refusal(Pod& out, Value conditions) {
  const Value condition = api::condition_of(conditions, "PodScheduled");
  if (condition.get("status").as_string() != "False") return;
  out.refusal_reason = text(condition, "reason");
  out.refusal = text(condition, "message");
}

std::string group_of(Value metadata, const Labels& labels) {
  if (const auto set = find_label(labels, api::label::kJobSetName)) return std::string(*set);
  for (const Value owner : metadata.get("ownerReferences").items())
    if (owner.get("controller").as_bool()) return text(owner, "name");
  return {};
}

}  // namespace

Labels read_labels(Value labels) {
  Labels out;
  out.reserve(labels.size());
  for (const json::Member& label : labels.members())
    out.emplace_back(label.key, label.value.as_string());
  std::ranges::sort(out);
  return out;
}

std::optional<std::string_view> find_label(const Labels& labels, std::string_view key) {
  const auto at = std::ranges::lower_bound(labels, key, {}, &Labels::value_type::first);
  if (at == labels.end() || at->first != key) return std::nullopt;
  return at->second;
}

bool all_met(const std::vector<Requirement>& requirements, const Labels& labels) {
  return std::ranges::all_of(requirements, [&](const Requirement& requirement) {
    return api::is_met(requirement, find_label(labels, requirement.key));
  });
}

bool NodeTerm::matches(const Node& node) const {
  if (labels.empty() && names.empty()) return false;
  return all_met(labels, node.labels) &&
         std::ranges::all_of(names, [&](const Requirement& requirement) {
           return requirement.key == "metadata.name" && api::is_met(requirement, node.name);
         });
}

bool PodTerm::selects(std::string_view ns, const Labels& ns_labels,
                      const Labels& pod_labels) const {
  if (of_nobody) return false;
  const bool right_namespace = std::ranges::find(namespaces, ns) != namespaces.end() ||
                               (of_namespaces && all_met(*of_namespaces, ns_labels));
  return right_namespace && all_met(labels, pod_labels);
}

Node read_node(Value object) {
  const Value spec = object.get("spec");
  Node out{.name = std::string(object.get({"metadata", "name"}).as_string()),
           .labels = read_labels(object.get({"metadata", "labels"})),
           .taints = {},
           .unschedulable = spec.get("unschedulable").as_bool(),
           .allocatable = api::read_compute_resources(object.get({"status", "allocatable"}))};
  for (const Value taint : spec.get("taints").items())
    out.taints.push_back({text(taint, "key"), text(taint, "value"), text(taint, "effect")});
  return out;
}

Pod read_pod(Value object) {
  const Value metadata = object.get("metadata");
  const Value spec = object.get("spec");
  const Value status = object.get("status");
  Pod out;
  out.ns = text(metadata, "namespace");
  out.name = text(metadata, "name");
  out.uid = text(metadata, "uid");
  out.generation = metadata.get("generation").as_int();
  out.labels = read_labels(metadata.get("labels"));
  out.group = group_of(metadata, out.labels);
  out.created = parse_time(metadata.get("creationTimestamp").as_string()).value_or(Time{});
  out.priority = spec.get("priority").as_int();
  out.node = text(spec, "nodeName");
  const std::string_view scheduler = spec.get("schedulerName").as_string();
  out.ours = scheduler.empty() || scheduler == kSchedulerName;
  out.gated = !spec.get("schedulingGates").empty();
  out.deleting = !metadata.get("deletionTimestamp").is_null();
  out.ended = api::is_end_phase(status.get("phase").as_string());
  out.wishes = read_wishes(spec, out.ns);
  out.wishes.spread = read_spread(spec.get("topologySpreadConstraints"), out.labels);
  read_refusal(out, status.get("conditions"));
  return out;
}

}  // namespace muster::scheduler
