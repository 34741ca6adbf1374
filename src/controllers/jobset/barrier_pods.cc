#include "controllers/jobset/barrier_pods.h"

#include <limits>

#include "api/views/job_set_names.h"
#include "base/number.h"
#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using json::Value;

// As the pod says; without a sound number no group is ever complete by itself.
std::int64_t size_of(const api::Meta& meta) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  return parse_number<std::int64_t>(meta.annotation(annotation::kBarrierSize).value_or(""))
      .value_or(kNever);
}

}  // namespace

bool has_started(Value pod) {
  if (pod.get({"metadata", "deletionTimestamp"}).is_string()) return false;
  const std::string_view phase = pod.get({"status", "phase"}).as_string();
  if (phase == "Failed") return false;
  if (phase == "Running" || phase == "Succeeded") return true;
  for (const Value container : pod.get({"status", "initContainerStatuses"}).items()) {
    if (container.get("name").as_string() != api::kBarrierContainer) continue;
    const Value state = container.get("state");
    const Value end = state.get("terminated");
    return state.get("running").is_object() ||
           (end.is_object() && end.get("exitCode").as_int() == 0);
  }
  return false;
}

bool is_held(Value pod) { return pod.get({"status", "phase"}).as_string() == "Pending"; }

BarrierPods::BarrierPods(client::Informer& pods, Changed changed) : changed_(std::move(changed)) {
  pods.on_change([this, &pods](const auto& before, const auto& after) {
    took(before, after, pods.content());
  });
}

const Starts* BarrierPods::of(const SetUid& set) const {
  const auto found = groups_.find(set);
  return found == groups_.end() ? nullptr : &found->second.starts;
}

void BarrierPods::took(const client::ObjectPtr& before, const client::ObjectPtr& after,
                       Value content) {
  // A name may have passed to another pod between two looks.
  if (before && (!after || before->meta().uid != after->meta().uid)) remove(before->meta().uid);
  if (!after) return;
  const api::Meta& meta = after->meta();
  const auto attempt = attempt_of_barrier(meta.annotation(annotation::kBarrier).value_or(""));
  if (!attempt) return;
  has_started(content) ? add(meta, *attempt, is_held(content)) : remove(meta.uid);
}

void BarrierPods::add(const api::Meta& meta, std::int32_t attempt, bool held) {
  const auto set_uid = meta.label(label::kJobSetUid), set_name = meta.label(label::kJobSetName);
  const api::OwnerReference* const job = meta.controller();
  if (!set_uid || !set_name || job == nullptr) return;
  const auto [place, is_new] = places_.try_emplace(
      meta.uid, Place{.set = {meta.ns, std::string(*set_uid)}, .job = {attempt, job->name}});
  Group& group = groups_[place->second.set];
  const bool was_held = place->second.held;
  hold(place->second, held);
  if (!is_new) {
    if (was_held != held) changed_(group.set, false);
    return;
  }
  group.set = {meta.ns, std::string(*set_name)};
  ++group.starts.pods[place->second.job];
  changed_(group.set, ++group.totals[attempt] >= size_of(meta));
}

void BarrierPods::hold(Place& place, bool held) {
  if (place.held == held) return;
  place.held = held;
  auto& counts = groups_[place.set].starts.held;
  if ((counts[place.job] += held ? 1 : -1) == 0) counts.erase(place.job);
}

void BarrierPods::remove(const std::string& pod_uid) {
  auto node = places_.extract(pod_uid);
  if (node.empty()) return;
  Place& place = node.mapped();
  hold(place, false);
  const auto at = groups_.find(place.set);
  Group& group = at->second;
  if (--group.starts.pods[place.job] == 0) group.starts.pods.erase(place.job);
  if (--group.totals[place.job.attempt] == 0) group.totals.erase(place.job.attempt);
  const client::QueueKey set = group.set;
  if (group.totals.empty()) groups_.erase(at);
  changed_(set, false);
}

}  // namespace muster::controllers::jobset
