#include "controllers/namespaces/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "controllers/runtime/writes.h"

namespace muster::controllers::namespaces {
namespace {

using json::Value;
using std::chrono::seconds;

constexpr std::string_view kFinalizer = "kubernetes";
// After a deletion, before reading what it left.
constexpr Duration kReadBack = std::chrono::milliseconds(100);
// How long finalizers are thought to take.
constexpr seconds kFinalizersTake{15};
// Objects that should have gone by now, or kinds that could not be read.
constexpr seconds kRetry{5};

struct Condition {
  std::string_view type;
  bool failed = false;
  std::string_view reason;
  std::string message;
};
using Conditions = std::array<Condition, 5>;  // always all of them, in this order

// How long what is left will need; 0 if it should not be there any more.
seconds estimate(Value object, const Content& content, Time now) {
  const auto deleted = parse_time(object.get({"metadata", "deletionTimestamp"}).as_string());
  if (content.has_pods() && deleted && now - *deleted < content.pod_grace) return content.pod_grace;
  const bool held = std::ranges::any_of(
      content.kinds, [](const KindContent& kind) { return !kind.finalizers.empty(); });
  return held ? kFinalizersTake : seconds(0);
}

std::vector<std::string> faults(std::string_view ns, const Content& content, bool overdue) {
  std::vector<std::string> out = content.errors;
  for (const KindContent& kind : content.kinds) {
    if (!overdue) break;
    const api::GroupVersionKind& gvk = kind.resource->gvk;
    out.push_back(
        fmt::format("unexpected items still remain in namespace: {} for gvr: {}/{}, "
                    "Resource={}",
                    ns, gvk.group, gvk.version, kind.resource->plural));
  }
  std::ranges::sort(out);
  return out;
}

// "configmaps. has 1 resource instances", sorted.
std::string remaining_text(const Content& content) {
  std::vector<std::string> kinds;
  for (const KindContent& kind : content.kinds) {
    kinds.push_back(fmt::format("{}.{} has {} resource instances", kind.resource->plural,
                                kind.resource->gvk.group, kind.objects));
  }
  std::ranges::sort(kinds);
  return fmt::format("Some resources are remaining: {}", fmt::join(kinds, ", "));
}

std::string finalizers_text(const Content& content) {
  std::map<std::string, int> held;
  for (const KindContent& kind : content.kinds) {
    for (const auto& [finalizer, objects] : kind.finalizers) held[finalizer] += objects;
  }
  std::vector<std::string> texts;
  for (const auto& [finalizer, objects] : held)
    texts.push_back(fmt::format("{} in {} resource instances", finalizer, objects));
  if (texts.empty()) return {};
  return fmt::format("Some content in the namespace has finalizers remaining: {}",
                     fmt::join(texts, ", "));
}

Conditions conditions_of(std::string_view ns, const Content& content, bool overdue) {
  Conditions out = {{
      {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
       "All resources successfully discovered"},
      {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
       "All legacy kube types successfully parsed"},
      {"NamespaceDeletionContentFailure", false, "ContentDeleted",
       "All content successfully deleted, may be waiting on finalization"},
      {"NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"},
      {"NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
       "All content-preserving finalizers finished"},
  }};
  if (const auto why = faults(ns, content, overdue); !why.empty()) {
    out[2] = {out[2].type, true, "ContentDeletionFailed",
              fmt::format("Failed to delete all resource types, {} remaining: {}", why.size(),
                          fmt::join(why, ", "))};
  }
  // As upstream: while pods are left nobody counts.
  if (content.has_pods() || content.kinds.empty()) return out;
  out[3] = {out[3].type, true, "SomeResourcesRemain", remaining_text(content)};
  if (std::string text = finalizers_text(content); !text.empty())
    out[4] = {out[4].type, true, "SomeFinalizersRemain", std::move(text)};
  return out;
}

bool says(Value have, const Condition& condition) {
  return have.get("status").as_string() == (condition.failed ? "True" : "False") &&
         have.get("reason").as_string() == condition.reason &&
         have.get("message").as_string() == condition.message;
}

// One that says the same keeps its time.
void set_condition(Value conditions, const Condition& condition, Time now) {
  Value slot;
  for (const Value each : conditions.items()) {
    if (each.get("type").as_string() == condition.type) slot = each;
  }
  if (slot.is_null()) {
    slot = Value::object(conditions.arena());
    slot.set("type", condition.type);
    conditions.push_back(slot);
  }
  if (says(slot, condition)) return;
  slot.set("status", condition.failed ? "True" : "False");
  slot.set("lastTransitionTime", format_time(now));
  slot.set("reason", condition.reason);
  slot.set("message", condition.message);
}

std::optional<client::Operation> write_status(const api::Resource& namespaces, Value object,
                                              const Conditions& conditions, Time now) {
  json::Arena arena;
  const Value before = object.get("status");
  Value after = before.is_null() ? Value::object(arena) : json::clone(arena, before);
  after.set("phase", "Terminating");
  for (const Condition& condition : conditions)
    set_condition(after.array_at("conditions"), condition, now);
  return patch_status(namespaces, ref_of(object, "v1", "Namespace"), before, after);
}

// Without a version: the status that was written just before has a new one.
client::Operation finalize(const api::Resource& namespaces, Value object) {
  json::Arena arena;
  Value body = json::clone(arena, object);
  const Value metadata = body.get("metadata");
  metadata.erase("resourceVersion");
  metadata.erase("managedFields");
  const Value rest = Value::array(arena);
  for (const Value finalizer : object.get({"spec", "finalizers"}).items()) {
    if (finalizer.as_string() != kFinalizer) rest.push_back(finalizer);
  }
  body.object_at("spec").set("finalizers", rest);
  return {.verb = client::Verb::kUpdate,
          .resource = &namespaces,
          .name = std::string(metadata.get("name").as_string()),
          .subresource = "finalize",
          .body = body};
}

client::Operation delete_all(const api::Resource& resource, std::string_view ns) {
  return {.verb = client::Verb::kDelete,
          .resource = &resource,
          .ns = std::string(ns),
          .body = R"({"propagationPolicy":"Background"})"};
}

}  // namespace

bool is_ours_to_empty(Value object) {
  return !object.get({"metadata", "deletionTimestamp"}).is_null() &&
         std::ranges::any_of(object.get({"spec", "finalizers"}).items(),
                             [](Value each) { return each.as_string() == kFinalizer; });
}

Plan plan(const api::Resource& namespaces, Value object, const Content& content, Time now) {
  const std::string_view ns = object.get({"metadata", "name"}).as_string();
  Plan plan;
  for (const KindContent& kind : content.kinds) {
    if (kind.untouched > 0) plan.write({.operation = delete_all(*kind.resource, ns)});
  }
  if (plan.has_writes()) {
    plan.reason = content.has_pods() ? "the pods go first" : "what is left goes";
    plan.look_again = kReadBack;
    return plan;
  }
  const seconds left = estimate(object, content, now);
  const bool overdue = !content.kinds.empty() && left == seconds(0);
  auto status = write_status(namespaces, object, conditions_of(ns, content, overdue), now);
  if (status) plan.then({.operation = *std::move(status)});
  if (content.is_empty()) {
    plan.reason = "nothing is left";
    plan.then({.operation = finalize(namespaces, object)});
  } else {
    plan.reason = "something is left";
    plan.look_again = overdue || !content.errors.empty() ? kRetry : left / 2 + seconds(1);
  }
  return plan;
}

}  // namespace muster::controllers::namespaces
