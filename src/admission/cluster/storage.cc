// PersistentVolumeClaim and PersistentVolume: kept by a finalizer while they are in use.
#include "admission/kinds.h"
#include "admission/pod/pod_defaults.h"
#include "admission/pod/volume_validation.h"
#include "admission/rules/checks.h"
#include "admission/rules/finalizer.h"
#include "api/values/quantity.h"
#include "base/time.h"

namespace muster::admission {
namespace {

void default_claim(const Context&, Value claim) {
  const Value spec = claim.object_at("spec");
  set_default(spec, "volumeMode", "Filesystem");
  round_resources(spec.get("resources"));
}

Status protect_claim(const Context& context, Value claim, Value) {
  if (context.operation == Operation::kCreate) add_finalizer(claim, "kubernetes.io/pvc-protection");
  return {};
}

void prepare_claim_create(const Context&, Value claim) {
  claim.object_at("status").set("phase", Value::view("Pending"));
}

void validate_claim(const Context&, Value claim, FieldErrors& errors) {
  validate_claim_spec(claim.get("spec"), Path("spec"), errors);
}

// Only a larger amount, a volume that is bound, a class that was not chosen.
void validate_claim_update(const Context&, Value claim, Value old, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = claim.get("spec");
  const Value before = old.get("spec");
  const Value munged = json::clone(spec.arena(), spec);
  if (text_of(before, "volumeName").empty()) take_member(munged, before, "volumeName");
  if (!has_value(before, "storageClassName")) take_member(munged, before, "storageClassName");
  take_member(munged, before, "resources");
  take_member(munged, before, "volumeAttributesClassName");
  if (!json::equal(munged, before))
    errors.forbidden(path,
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
  const Value now = spec.get({"resources", "requests", "storage"});
  const auto amount = api::Quantity::parse(now.as_string());
  const auto was =
      api::Quantity::parse(before.get({"resources", "requests", "storage"}).as_string());
  if (!amount || !was) return;
  if (*amount < *was)
    errors.forbidden(path.child("resources").child("requests").child("storage"),
                     "field can not be less than status.capacity");
  else if (*amount > *was && text_of(old.get("status"), "phase") != "Bound")
    errors.forbidden(path,
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims");
}

void default_volume_object(const Context&, Value volume) {
  const Value spec = volume.object_at("spec");
  set_default(spec, "persistentVolumeReclaimPolicy", "Retain");
  set_default(spec, "volumeMode", "Filesystem");
  if (const Value host_path = spec.get("hostPath"); host_path.is_object())
    set_default(host_path, "type", "");
  round_resource_list(spec.get("capacity"));
}

Status protect_volume(const Context& context, Value volume, Value) {
  if (context.operation == Operation::kCreate) add_finalizer(volume, "kubernetes.io/pv-protection");
  return {};
}

void prepare_volume_create(const Context& context, Value volume) {
  const Value status = volume.object_at("status");
  status.set("phase", Value::view("Pending"));
  status.set("lastPhaseTransitionTime", format_time(context.now));
}

void validate_volume_object(const Context&, Value volume, FieldErrors& errors) {
  const Path path("spec");
  const Value spec = volume.get("spec");
  if (spec.get("accessModes").empty()) errors.required(path.child("accessModes"));
  if (spec.get("capacity").empty()) errors.required(path.child("capacity"));
  validate_choice(spec, "persistentVolumeReclaimPolicy", {"Delete", "Recycle", "Retain"}, path,
                  errors);
  validate_choice(spec, "volumeMode", {"Block", "Filesystem"}, path, errors);
}

}  // namespace

constinit const Kind kPersistentVolumeClaim = {
    .group = "",
    .name = "PersistentVolumeClaim",
    .apply_defaults = default_claim,
    .mutate = protect_claim,
    .prepare_create = prepare_claim_create,
    .validate = validate_claim,
    .validate_update = validate_claim_update,
};

constinit const Kind kPersistentVolume = {
    .group = "",
    .name = "PersistentVolume",
    .apply_defaults = default_volume_object,
    .mutate = protect_volume,
    .prepare_create = prepare_volume_create,
    .validate = validate_volume_object,
};

}  // namespace muster::admission
