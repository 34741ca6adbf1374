// What may change in a pod once it exists (spec: job 4.2).
#include <fmt/format.h>

#include <set>
#include <tuple>

#include "admission/pod/pod_validation.h"
#include "admission/pod/qos.h"
#include "admission/rules/checks.h"
#include "admission/rules/list_index.h"
#include "json/write.h"

namespace muster::admission {
namespace {

constexpr std::string_view kFixedSpec =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions "
    "to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "
    "was "
    "previously negative)";

void validate_same_containers(Value spec, Value old, const Path& path, FieldErrors& errors) {
  for (const std::string_view list : {"containers", "initContainers"})
    if (spec.get(list).size() != old.get(list).size())
      errors.forbidden(path.child(list), "pod updates may not add or remove containers");
}

// Images may change, so they are looked at once more.
void validate_images(Value spec, const Path& path, FieldErrors& errors) {
  for (const std::string_view list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < spec.get(list).size(); ++i)
      require_text(spec.get(list).item(i), "image", path.child(list).index(i), errors);
}

void validate_deadline(Value spec, Value old, const Path& path, FieldErrors& errors) {
  const Value now = spec.get("activeDeadlineSeconds");
  const Value before = old.get("activeDeadlineSeconds");
  if (now.is_null() && !before.is_null())
    return errors.invalid(path.child("activeDeadlineSeconds"), now,
                          "must not update from a positive integer to nil value");
  if (!now.is_null() && !before.is_null() && now.as_int() > before.as_int())
    errors.invalid(path.child("activeDeadlineSeconds"), now,
                   "must be less than or equal to previous value");
}

// All of a toleration but its time.
auto without_seconds(Value toleration) {
  return std::tuple(text_of(toleration, "key"), text_of(toleration, "operator"),
                    text_of(toleration, "value"), text_of(toleration, "effect"));
}

// Old ones stay, with at most their time changed.
void validate_only_added_tolerations(Value spec, Value old, const Path& path, FieldErrors& errors) {
  std::set<decltype(without_seconds({}))> now;
  for (const Value toleration : spec.get("tolerations").items())
    now.insert(without_seconds(toleration));
  for (const Value before : old.get("tolerations").items()) {
    if (!now.contains(without_seconds(before)))
      return errors.forbidden(
          path.child("tolerations"),
          "existing toleration can not be modified except its tolerationSeconds");
  }
}

void validate_only_removed_gates(Value spec, Value old, const Path& path, FieldErrors& errors) {
  const Value gates = spec.get("schedulingGates");
  const ItemsBy before(old.get("schedulingGates"), "name");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string_view name = text_of(gates.item(i), "name");
    if (!before.contains(name))
      errors.forbidden(
          path.child("schedulingGates").index(i).child("name"),
          fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name));
  }
}

void validate_only_added_selectors(Value spec, Value old, const Path& path, FieldErrors& errors) {
  const Value now = spec.get("nodeSelector");
  for (const json::Member& label : old.get("nodeSelector").members())
    if (!json::equal(now.get(label.key), label.value))
      return errors.invalid(path.child("nodeSelector"), now,
                            "only additions to spec.nodeSelector are allowed (no mutations or "
                            "deletions)");
}

bool is_prefix(Value before, Value now) {
  if (before.size() > now.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!json::equal(before.item(i), now.item(i))) return false;
  return true;
}

void validate_only_added_affinity(Value spec, Value old, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Value before = old.get({"affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (before.empty()) return;
  const Value now = spec.get({"affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  const Path at =
      path.child("affinity").child("nodeAffinity").child(kRequired).child("nodeSelectorTerms");
  if (now.size() != before.size())
    return errors.invalid(at, now.is_array() ? now : Value::array(spec.arena()),
                          "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  for (std::size_t i = 0; i < before.size(); ++i)
    for (const std::string_view list : {"matchExpressions", "matchFields"})
      if (!is_prefix(before.item(i).get(list), now.item(i).get(list)))
        errors.invalid(at.index(i), now.item(i),
                       "only additions are allowed (no mutations or deletions)");
}

// The new spec with everything that may change put back as it was.
Value without_changeable(Value spec, Value old, bool gated) {
  const Value munged = json::clone(spec.arena(), spec);
  for (const std::string_view list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < munged.get(list).size(); ++i)
      take_member(munged.get(list).item(i), old.get(list).item(i), "image");
  for (const std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    take_member(munged, old, key);
  if (int_of(old, "terminationGracePeriodSeconds") < 0 &&
      int_of(munged, "terminationGracePeriodSeconds") == 1)
    take_member(munged, old, "terminationGracePeriodSeconds");
  if (gated) {
    take_member(munged, old, "nodeSelector");
    const Value affinity = munged.object_at("affinity");
    take_member(affinity, old.get("affinity"), "nodeAffinity");
    if (affinity.empty() && !has_value(old, "affinity")) munged.erase("affinity");
  }
  return munged;
}

void validate_state_change(Value now, Value before, std::string_view restart_policy,
                           const Path& path, FieldErrors& errors) {
  const ItemsBy by_name(now, "name");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Value old = before.item(i);
    const Value terminated = old.get({"state", "terminated"});
    if (!terminated.is_object()) continue;
    if (restart_policy == "OnFailure" && int_of(terminated, "exitCode") != 0) continue;
    const Value match = by_name.find(text_of(old, "name"));
    if (match.is_object() && !match.get({"state", "terminated"}).is_object())
      errors.forbidden(path.index(i).child("state"),
                       "may not be transitioned to non-terminated state");
  }
}

void validate_status_update(Value pod, Value old, FieldErrors& errors) {
  const Path path("status");
  const std::string_view policy = text_of(old.get("spec"), "restartPolicy");
  if (const std::string_view node = text_of(pod.get("status"), "nominatedNodeName"); !node.empty())
    add_faults(errors, path.child("nominatedNodeName"), node, api::check_dns1123_subdomain(node));
  if (text_of(pod.get("status"), "qosClass") != text_of(old.get("status"), "qosClass"))
    errors.invalid(path.child("qosClass"), text_of(pod.get("status"), "qosClass"), kImmutable);
  if (policy == "Always") return;
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"})
    validate_state_change(pod.get({"status", list}), old.get({"status", list}), policy,
                          path.child(list), errors);
}

void validate_resize(Value spec, Value old, FieldErrors& errors) {
  const Path path("spec");
  if (qos_class(spec) != qos_class(old))
    errors.invalid(path, qos_class(old), "Pod QOS Class may not change as a result of resizing");
  const Value containers = spec.get("containers");
  for (std::size_t i = 0; i < containers.size(); ++i)
    for (const std::string_view list : {"requests", "limits"})
      for (const json::Member& amount :
           old.get("containers").item(i).get({"resources", list}).members())
        if (!containers.item(i).get({"resources", list}).has(amount.key))
          errors.forbidden(path.child("containers").index(i).child("resources").child(list),
                           fmt::format("resource {} cannot be removed", list));
}

void validate_added_ephemerals(Value spec, Value old, FieldErrors& errors) {
  const Path path = Path("spec").child("ephemeralContainers");
  const ItemsBy now(spec.get("ephemeralContainers"), "name");
  const Value before = old.get("ephemeralContainers");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::string_view name = text_of(before.item(i), "name");
    const Value match = now.find(name);
    if (match.is_null())
      errors.forbidden(
          path, fmt::format("existing ephemeral containers \"{}\" may not be removed\n", name));
    else if (!json::equal(match, before.item(i)))
      errors.forbidden(
          path, fmt::format("existing ephemeral containers \"{}\" may not be changed\n", name));
  }
}

}  // namespace

void validate_pod_update(const Context&, Value pod, Value old, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = pod.get("spec");
  const Value before = old.get("spec");
  const std::size_t found = errors.causes().size();
  validate_same_containers(spec, before, path, errors);
  if (errors.causes().size() > found) return;
  const bool gated = !before.get("schedulingGates").empty();
  validate_images(spec, path, errors);
  validate_deadline(spec, before, path, errors);
  validate_only_added_tolerations(spec, before, path, errors);
  validate_only_removed_gates(spec, before, path, errors);
  if (gated) {
    validate_only_added_selectors(spec, before, path, errors);
    validate_only_added_affinity(spec, before, path, errors);
  }
  if (errors.causes().size() > found) return;
  const Value munged = without_changeable(spec, before, gated);
  if (!json::equal(munged, before))
    errors.forbidden(path, fmt::format("{}\n  was: {}\n  now: {}\n", kFixedSpec,
                                       json::write(before), json::write(munged)));
}

void validate_pod_subresource(const Context& context, Value pod, Value old, FieldErrors& errors) {
  if (context.subresource == "status") return validate_status_update(pod, old, errors);
  validate_pod_spec(pod.get("spec"), Path("spec"), errors);
  if (context.subresource == "resize") validate_resize(pod.get("spec"), old.get("spec"), errors);
  if (context.subresource == "ephemeralcontainers")
    validate_added_ephemerals(pod.get("spec"), old.get("spec"), errors);
}

}  // namespace muster::admission
