#include "controllers/jobset/children.h"

#include "base/result.h"
#include "controllers/jobset/names.h"
#include "controllers/jobset/status_draft.h"
#include "controllers/runtime/parsed.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

Event refused(const api::JobSet& set, std::string_view reason) {
  return {
      .regarding = ref_of(set), .warning = true, .reason = std::string(reason), .message = "{}"};
}

void add_owner(Value metadata, const api::JobSet& set) {
  metadata.array_at("ownerReferences")
      .push_back(controller_reference(metadata.arena(), ref_of(set)));
}

Value object_of(Arena& arena, std::string_view kind, std::string_view name,
                const api::JobSet& set) {
  Value object = Value::object(arena);
  object.set("apiVersion", "v1");
  object.set("kind", kind);
  object.object_at("metadata").set("name", name);
  object.get("metadata").set("namespace", set.meta.ns);
  return object;
}

Value claim_object(Arena& arena, const api::JobSet& set, Value from, bool retain) {
  const Value given = from.get("metadata");
  Value claim = object_of(arena, "PersistentVolumeClaim",
                          claim_name(given.get("name").as_string(), set), set);
  const Value metadata = claim.get("metadata");
  for (const std::string_view part : {"labels", "annotations"}) {
    if (given.get(part).is_object()) metadata.set(part, json::clone(arena, given.get(part)));
  }
  metadata.object_at("labels").set(label::kJobSetName, set.meta.name);
  if (!retain) add_owner(metadata, set);
  claim.set("spec", from.get("spec"));
  return claim;
}

// The counts that its Jobs should have; nothing unless both are said and equal.
std::optional<std::int32_t> elastic_count(Arena& arena, const api::ReplicatedJob& entry) {
  const Value spec = parsed(arena, entry.template_json).get("spec");
  const Value parallelism = spec.get("parallelism"), completions = spec.get("completions");
  if (!parallelism.is_number() || !json::equal(parallelism, completions)) return std::nullopt;
  return static_cast<std::int32_t>(parallelism.as_int());
}

}  // namespace

Step delete_previous(const Kinds& kinds, const Children& previous) {
  Step step;
  for (const Child* job : previous) {
    if (job->terminating) continue;
    step.writes.push_back({.operation = remove(*kinds.job, job->ref(), Propagation::kForeground)});
  }
  return step;
}

Step delete_running(const Kinds& kinds, const Children& active) {
  Step step;
  for (const Child* job : active) {
    if (job->terminating) continue;
    step.writes.push_back(
        {.operation = remove_version(*kinds.job, job->ref_as_seen(), Propagation::kForeground)});
  }
  return step;
}

Step create_service(const Kinds& kinds, const api::JobSet& set) {
  Arena arena;
  const Value service = object_of(arena, "Service", subdomain(set), set);
  add_owner(service.get("metadata"), set);
  const Value spec = service.object_at("spec");
  spec.set("clusterIP", "None");
  spec.object_at("selector").set(label::kJobSetName, set.meta.name);
  spec.set("publishNotReadyAddresses", Value::of(set.network->publish_not_ready_addresses));
  Step step;
  step.writes.push_back({.operation = create(*kinds.service, service), .may_exist = true});
  step.when_refused = refused(set, "HeadlessServiceCreationFailed");
  return step;
}

std::vector<std::string> claim_names(const api::JobSet& set) {
  Arena arena;
  std::vector<std::string> names;
  for (const api::VolumeClaimPolicy& policy : set.volume_claim_policies) {
    for (const std::string& text : policy.templates_json) {
      const Value name = parsed(arena, text).get({"metadata", "name"});
      names.push_back(claim_name(name.as_string(), set));
    }
  }
  return names;
}

Step create_claims(const Kinds& kinds, const api::JobSet& set,
                   const std::set<std::string, std::less<>>& existing) {
  Step step;
  step.when_refused = refused(set, "PVCCreationFailed");
  Arena arena;
  for (const api::VolumeClaimPolicy& policy : set.volume_claim_policies) {
    for (const std::string& text : policy.templates_json) {
      const Value claim = claim_object(arena, set, parsed(arena, text), policy.retain_when_deleted);
      if (existing.contains(claim.get({"metadata", "name"}).as_string())) continue;
      step.writes.push_back({.operation = create(*kinds.claim, claim), .may_exist = true});
    }
  }
  return step;
}

Step create_barrier(const Kinds& kinds, const api::JobSet& set, std::int32_t resumes) {
  Arena arena;
  const Value config_map = object_of(arena, "ConfigMap", barrier_config_map(set), set);
  const Value metadata = config_map.get("metadata");
  metadata.object_at("labels").set(label::kJobSetName, set.meta.name);
  metadata.object_at("annotations").set(kResumes, std::to_string(resumes));
  add_owner(metadata, set);
  Step step;
  step.writes.push_back({.operation = create(*kinds.config_map, config_map)});
  step.when_refused = refused(set, "BarrierCreationFailed");
  return step;
}

Step tell_coordinator_ended(const Kinds& kinds, const Signal& signal, std::int32_t attempt) {
  Arena arena;
  const Value change = Value::object(arena, 1);
  change.object_at("data").set(coordinator_key(attempt), "true");
  ObjectRef target = signal.ref;
  target.resource_version.clear();  // whatever else has changed: what is said is true
  Step step;
  step.writes.push_back({.operation = patch(*kinds.config_map, target, change)});
  return step;
}

Step renew_barrier(const Kinds& kinds, const Signal& signal) {
  Arena arena;
  const Value change = Value::object(arena, 2);
  change.object_at("metadata")
      .object_at("annotations")
      .set(kResumes, std::to_string(signal.resumes + 1));
  for (const auto& [key, text] : signal.data) change.object_at("data").set(key, Value());
  Step step;
  step.writes.push_back({.operation = patch(*kinds.config_map, signal.ref, change)});
  return step;
}

Step scale_jobs(const Kinds& kinds, const api::JobSet& set, const Children& active) {
  Step step;
  Arena arena;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    const auto count = elastic_count(arena, entry);
    if (!count) continue;
    for (const Child* job : active) {
      if (job->replicated_job != entry.name) continue;
      if (job->parallelism == *count && job->completions == *count) continue;
      const Value change = Value::object(arena);
      change.object_at("spec").set("parallelism", Value::of(*count));
      change.get("spec").set("completions", Value::of(*count));
      step.writes.push_back({.operation = patch(*kinds.job, job->ref(), change)});
    }
  }
  return step;
}

Step suspend_jobs(const Kinds& kinds, const Children& active) {
  Step step;
  Arena arena;
  const Value change = Value::object(arena);
  change.object_at("spec").set("suspend", Value::of(true));
  for (const Child* job : active) {
    if (job->suspend) continue;
    step.writes.push_back({.operation = patch(*kinds.job, job->ref_as_seen(), change)});
  }
  return step;
}

}  // namespace muster::controllers::jobset
