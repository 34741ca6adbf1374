#include "admission/jobset/jobset_pod.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "admission/rules/edit.h"
#include "admission/rules/lookup.h"
#include "api/views/job_names.h"
#include "api/views/job_set_names.h"
#include "base/number.h"

namespace muster::admission {
namespace {

namespace annotation = api::annotation;
namespace label = api::label;
using api::kCompletionIndex;

std::string_view annotation_of(Value pod, std::string_view key) {
  return pod.get({"metadata", "annotations", key}).as_string();
}
std::string_view label_of(Value pod, std::string_view key) {
  return pod.get({"metadata", "labels", key}).as_string();
}

bool is_placed_by_us(Value pod) {
  const Value annotations = pod.get({"metadata", "annotations"});
  return annotations.has(label::kJobSetName) && !annotations.has(annotation::kNodeSelectorStrategy);
}
bool is_exclusive(Value pod) {
  return pod.get({"metadata", "annotations"}).has(annotation::kExclusiveTopology);
}
bool is_leader(Value pod) { return annotation_of(pod, kCompletionIndex) == "0"; }

std::string_view controller_uid(Value pod) {
  for (const Value owner : pod.get({"metadata", "ownerReferences"}).items())
    if (owner.get("controller").as_bool()) return text_of(owner, "uid");
  return {};
}

// --- Ranks ---

std::optional<std::int64_t> number_of(std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// The first rank of its Job stands in its template, which knows no index.
void number_pod(Value pod) {
  const auto offset = number_of(annotation_of(pod, annotation::kRankOffset));
  const auto index = number_of(annotation_of(pod, kCompletionIndex));
  if (offset && index && *offset <= std::numeric_limits<std::int64_t>::max() - *index)
    pod.get({"metadata", "annotations"}).set(annotation::kRank, std::to_string(*offset + *index));
}

std::unexpected<Error> deny(std::string message) {
  return fail(Code::kForbidden, std::move(message));
}

// --- Leaders ---

void expect(Value expressions, std::string_view key, std::string_view op,
            std::optional<std::string_view> value = {}) {
  const Value expression = Value::object(expressions.arena(), 3);
  expression.set("key", key);
  expression.set("operator", op);
  if (value) expression.array_at("values").push_back(Value::string(expressions.arena(), *value));
  expressions.push_back(expression);
}

// A new required term of `affinity`, over all namespaces; returns its expressions.
Value add_term(Value affinity, std::string_view topology) {
  const Value term = Value::object(affinity.arena(), 3);
  const Value expressions = term.object_at("labelSelector").array_at("matchExpressions");
  term.set("topologyKey", topology);
  term.object_at("namespaceSelector");
  affinity.array_at("requiredDuringSchedulingIgnoredDuringExecution").push_back(term);
  return expressions;
}

// With its own Job, and with no other Job of the same priority: one of a higher priority may take
// the place by preemption.
void place_leader(Value pod) {
  const std::string_view topology = annotation_of(pod, annotation::kExclusiveTopology);
  const std::string_view key = label_of(pod, label::kJobKey);
  const Value affinity = pod.object_at("spec").object_at("affinity");
  expect(add_term(affinity.object_at("podAffinity"), topology), label::kJobKey, "In", key);
  const Value apart = add_term(affinity.object_at("podAntiAffinity"), topology);
  expect(apart, label::kJobKey, "Exists");
  expect(apart, label::kJobKey, "NotIn", key);
  expect(apart, label::kPriority, "In", label_of(pod, label::kPriority));
}

// --- Followers ---

std::string leader_name(Value pod) {
  return fmt::format("{}-{}-{}-0", label_of(pod, label::kJobSetName),
                     label_of(pod, label::kReplicatedJobName), label_of(pod, label::kJobIndex));
}

// A leader that goes or has failed is replaced. One that has succeeded is not: followers that are
// made or replaced after it still go where it was. One of an earlier attempt only lingers.
bool can_lead(Value pod, std::string_view job_uid) {
  if (has_value(pod.get("metadata"), "deletionTimestamp")) return false;
  const std::string_view phase = text_of(pod.get("status"), "phase");
  return phase == "Succeeded" ? controller_uid(pod) == job_uid : phase != "Failed";
}

// A pod's name is its leader's name, a dash and a random suffix without dashes.
bool has_base_name(Value pod, std::string_view base) {
  const std::string_view name = text_of(pod.get("metadata"), "name");
  return name.substr(0, name.rfind('-')) == base;
}

// Of this attempt: pods of the one before have the same name but another owner.
Result<Value> find_leader(const Context& context, Value follower) {
  const std::string name = leader_name(follower);
  const std::string labels = fmt::format("{}={},{}=0", label::kJobKey,
                                         label_of(follower, label::kJobKey), kCompletionIndex);
  const std::string_view ours = controller_uid(follower);
  std::vector<Value> leaders;
  for (const Value pod :
       list_like(context, follower.arena(), {.group = "", .plural = "pods", .ns = context.ns},
                 {.name_prefix = name + "-", .labels = labels})) {
    if (is_exclusive(pod) && has_base_name(pod, name) && can_lead(pod, ours))
      leaders.push_back(pod);
  }
  if (leaders.size() != 1) {
    return deny(
        fmt::format("expected 1 leader pod ({}), but got {}. this is an expected, transient error",
                    name, leaders.size()));
  }
  const std::string_view theirs = controller_uid(leaders[0]);
  if (ours != theirs)
    return deny(
        fmt::format("follower pod owner UID ({}) != leader pod owner UID ({})", ours, theirs));
  return leaders[0];
}

Status place_follower(const Context& context, Value pod) {
  const Result<Value> leader = find_leader(context, pod);
  const std::string_view node_name =
      leader ? text_of(leader->get("spec"), "nodeName") : std::string_view();
  if (node_name.empty()) return {};  // the check says why
  const Value node = find_object(context, pod.arena(),
                                 {.group = "", .plural = "nodes", .ns = "", .name = node_name});
  if (node.is_null()) return deny(fmt::format("nodes \"{}\" not found", node_name));
  const std::string_view topology = annotation_of(pod, annotation::kExclusiveTopology);
  const Value domain = node.get({"metadata", "labels", topology});
  if (domain.is_null()) return deny(fmt::format("node does not have topology label: {}", topology));
  pod.object_at("spec").object_at("nodeSelector").set(topology, domain.as_string());
  return {};
}

}  // namespace

Status mutate_jobset_pod(const Context& context, Value pod) {
  number_pod(pod);
  if (!is_placed_by_us(pod)) return {};
  if (const Value priority = pod.get({"spec", "priority"}); !priority.is_null())
    pod.get("metadata")
        .object_at("labels")
        .set(label::kPriority, std::to_string(priority.as_int()));
  if (!is_exclusive(pod)) return {};
  if (!is_leader(pod)) return place_follower(context, pod);
  place_leader(pod);
  return {};
}

// Upstream looks at the node selector first, which hides why there is none.
Status check_jobset_pod(const Context& context, Value pod) {
  if (!is_placed_by_us(pod) || !is_exclusive(pod) || is_leader(pod)) return {};
  MUSTER_TRY(const Value leader, find_leader(context, pod));
  if (text_of(leader.get("spec"), "nodeName").empty()) {
    return deny(
        "leader pod not yet scheduled, not creating follower pod. this is an expected, transient "
        "error");
  }
  const Value selector = pod.get({"spec", "nodeSelector"});
  if (selector.is_null()) return deny("follower pod node selector not set");
  const std::string_view topology = annotation_of(pod, annotation::kExclusiveTopology);
  if (!selector.has(topology)) {
    return deny(fmt::format(
        "follower pod node selector for topology domain not found. missing selector: {}",
        topology));
  }
  return {};
}

}  // namespace muster::admission
