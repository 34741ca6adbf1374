#include "controllers/claims/binding.h"

#include <fmt/format.h>

#include "controllers/runtime/writes.h"

namespace muster::controllers::claims {
namespace {

using json::Value;

Plan name_volume(const api::Resource& claims, const UnboundClaim& claim) {
  json::Arena arena;
  const Value change = Value::object(arena);
  change.object_at("spec").set("volumeName", claim.own_volume());
  const Value annotations = change.object_at("metadata").object_at("annotations");
  annotations.set("pv.kubernetes.io/bind-completed", "yes");
  annotations.set("pv.kubernetes.io/bound-by-controller", "yes");
  Plan plan;
  plan.reason = "the claim has no volume";
  plan.then({.operation = patch(claims, claim.ref, change)});
  return plan;
}

Plan complete(const api::Resource& claims, const UnboundClaim& claim) {
  json::Arena arena;
  const Value change = Value::object(arena);
  const Value status = change.object_at("status");
  status.set("phase", "Bound");
  const Value modes = status.array_at("accessModes");
  for (const std::string& mode : claim.access_modes) modes.push_back(Value::string(arena, mode));
  if (!claim.storage.empty()) status.object_at("capacity").set("storage", claim.storage);
  Plan plan;
  plan.reason = "the claim has its volume";
  plan.then({.operation = patch(claims, claim.ref, change, "status")});
  return plan;
}

Plan refuse(const UnboundClaim& claim) {
  Plan plan;
  plan.reason = "the claim is of a class that is not ours";
  plan.events.push_back(
      {.regarding = claim.ref,
       .warning = true,
       .reason = "ProvisioningFailed",
       .message = fmt::format("this machine provides volumes of the storage class \"{}\" and for "
                              "claims without a class; this claim asks for \"{}\"",
                              kClass, claim.storage_class)});
  return plan;
}

}  // namespace

UnboundClaim read_unbound_claim(Value claim) {
  const Value spec = claim.get("spec");
  UnboundClaim out;
  out.ref = ref_of(claim, "v1", "PersistentVolumeClaim");
  out.storage_class = spec.get("storageClassName").as_string();
  out.volume = spec.get("volumeName").as_string();
  out.phase = claim.get({"status", "phase"}).as_string();
  out.deleting = !claim.get({"metadata", "deletionTimestamp"}).is_null();
  for (const Value mode : spec.get("accessModes").items())
    out.access_modes.emplace_back(mode.as_string());
  out.storage = spec.get({"resources", "requests", "storage"}).as_string();
  return out;
}

Plan bind(const api::Resource& claims, const UnboundClaim& claim) {
  if (claim.deleting || (claim.phase != "Pending" && !claim.phase.empty())) return {};
  if (claim.volume == claim.own_volume()) return complete(claims, claim);
  if (!claim.volume.empty()) return {};  // somebody has another volume in mind
  if (!claim.storage_class.empty() && claim.storage_class != kClass) return refuse(claim);
  return name_volume(claims, claim);
}

}  // namespace muster::controllers::claims
