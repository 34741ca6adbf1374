#include "controllers/runtime/going.h"

#include <algorithm>

namespace muster::controllers {
namespace {

// Waits until what it owns is gone, which the collector sees to.
bool takes_along(const api::Meta& owner) {
  return owner.deletion_time.has_value() &&
         std::ranges::find(owner.finalizers, "foregroundDeletion") != owner.finalizers.end();
}

}  // namespace

Going::Going(Informers& informers, bool collects_garbage)
    : jobs_(informers.of("batch", "v1", "jobs")),
      sets_(informers.of("jobset.x-k8s.io", "v1alpha2", "jobsets")),
      collects_garbage_(collects_garbage) {
  for (client::Informer* informer : {&jobs_, &sets_}) {
    informer->on_change([this](const client::ObjectPtr& before, const client::ObjectPtr& after) {
      if (before && (!after || before->meta().uid != after->meta().uid))
        gone_.at(before->meta().uid) = true;
    });
  }
}

bool Going::goes(const api::Meta& object) {
  const api::OwnerReference* const owner = object.controller();
  if (owner == nullptr || !collects_garbage_) return false;
  if (is_gone(owner->uid)) return true;
  if (owner->kind == "Job") return goes_with_job(object, *owner);
  return owner->kind == "JobSet" && goes_with_set(object.ns, *owner);
}

bool Going::goes_with_job(const api::Meta& pod, const api::OwnerReference& owner) {
  const client::ObjectPtr job = jobs_.find(pod.ns, owner.name);
  if (!job || job->meta().uid != owner.uid) return false;
  const api::OwnerReference* const set = job->meta().controller();
  if (takes_along(job->meta())) return true;
  return set != nullptr && (is_gone(set->uid) || goes_with_set(pod.ns, *set));
}

bool Going::goes_with_set(const std::string& ns, const api::OwnerReference& owner) {
  const client::ObjectPtr set = sets_.find(ns, owner.name);
  return set && set->meta().uid == owner.uid && takes_along(set->meta());
}

}  // namespace muster::controllers
