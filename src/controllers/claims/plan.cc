#include "controllers/claims/plan.h"

#include <algorithm>

#include "api/views/pod_phase.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::claims {

using json::Value;

bool Claim::waits() const {
  return deleting && std::ranges::find(finalizers, kProtection) != finalizers.end();
}

Claim read_claim(const store::Object& claim, Value /*content*/) {
  const api::Meta& meta = claim.meta();
  return {.ref = ref_of(meta, "v1", "PersistentVolumeClaim"),
          .finalizers = meta.finalizers,
          .deleting = meta.deletion_time.has_value()};
}

User read_user(const store::Object& pod, Value content) {
  User user{.ns = pod.meta().ns, .uid = pod.meta().uid, .claims = {}};
  if (api::is_end_phase(content.get({"status", "phase"}).as_string())) return user;
  for (const Value volume : content.get({"spec", "volumes"}).items()) {
    const Value claim = volume.get({"persistentVolumeClaim", "claimName"});
    if (claim.is_string()) user.claims.emplace(claim.as_string());
  }
  return user;
}

Plan plan(const api::Resource& claims, const Claim& claim, bool in_use) {
  Plan plan;
  if (!claim.waits() || in_use) return plan;
  json::Arena arena;
  Value change = Value::object(arena);
  Value finalizers = change.object_at("metadata").array_at("finalizers");
  for (const std::string& finalizer : claim.finalizers) {
    if (finalizer != kProtection) finalizers.push_back(Value::string(arena, finalizer));
  }
  plan.reason = "no pod uses the claim any more";
  plan.then({.operation = patch(claims, claim.ref, change)});
  return plan;
}

}  // namespace muster::controllers::claims
