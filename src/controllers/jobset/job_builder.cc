#include "controllers/jobset/job_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"
#include "base/stable_hash.h"
#include "controllers/jobset/barrier.h"
#include "controllers/jobset/master_port.h"
#include "controllers/jobset/names.h"
#include "controllers/jobset/status_draft.h"
#include "controllers/runtime/parsed.h"
#include "controllers/runtime/writes.h"
#include "json/sort_keys.h"
#include "json/write.h"

namespace muster::controllers::jobset {
namespace {

using json::Arena;
using json::Value;

// How often the Job with this index has been restarted by itself.
std::int32_t job_attempt(const api::JobSet& set, std::string_view replicated_job,
                         std::int32_t index) {
  const auto& statuses = set.status.replicated_jobs;
  const auto found = std::ranges::find(statuses, replicated_job, &api::ReplicatedJobStatus::name);
  const auto at = static_cast<std::size_t>(index);
  return found == statuses.end() || at >= found->job_restarts.size() ? 0 : found->job_restarts[at];
}

// Exclusive placement, asked for by the JobSet or, before that, by the Job template. A strategy
// counts only beside a topology.
struct Exclusive {
  std::optional<std::string_view> topology;
  std::optional<std::string_view> strategy;
};

Exclusive exclusive_of(const api::JobSet& set, Value job_template) {
  Exclusive out;
  if (const auto topology = set.meta.annotation(annotation::kExclusiveTopology)) {
    out.topology = topology;
    out.strategy = set.meta.annotation(annotation::kNodeSelectorStrategy);
  }
  const Value annotations = job_template.get({"metadata", "annotations"});
  if (const Value topology = annotations.get(annotation::kExclusiveTopology);
      topology.is_string()) {
    out.topology = topology.as_string();
    const Value strategy = annotations.get(annotation::kNodeSelectorStrategy);
    if (strategy.is_string()) out.strategy = strategy.as_string();
  }
  return out;
}

bool mounts(Value pod, std::string_view volume) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const Value container : pod.get(list).items()) {
      for (const Value mount : container.get("volumeMounts").items()) {
        if (mount.get("name").as_string() == volume) return true;
      }
    }
  }
  return false;
}

bool is_ours(std::string_view key) {
  return key.starts_with(label::kJobSetPrefix) || key == annotation::kExclusiveTopology ||
         key == annotation::kNodeSelectorStrategy || key == annotation::kBarrier ||
         key == annotation::kBarrierSize || key == annotation::kBarrierTimeout ||
         key == annotation::kRankOffset || key == kTemplateDigest;
}

Value without_ours(Arena& arena, Value map) {
  Value out = Value::object(arena, map.size());
  for (const auto& [key, value] : map.members()) {
    if (!is_ours(key)) out.set(key, value);
  }
  return out;
}

std::string digest_of(Value pod_template) {
  Arena arena;
  const Value parts = Value::object(arena);
  for (const std::string_view name : {"labels", "annotations"}) {
    const Value part = pod_template.get({"metadata", name});
    if (!part.empty()) parts.set(name, json::clone(arena, part));
  }
  for (const std::string_view name : {"nodeSelector", "tolerations", "schedulingGates"}) {
    const Value part = pod_template.get({"spec", name});
    if (!part.empty()) parts.set(name, json::clone(arena, part));
  }
  // Some programs leave out empty texts when they write a set back: that must not stop its Jobs.
  for (const Value toleration : parts.get("tolerations").items()) {
    toleration.erase_if([](const json::Member& member) {
      return member.value.is_string() && member.value.as_string().empty();
    });
  }
  json::sort_all_keys(parts);
  return fmt::format("{:016x}", stable_hash(json::write(parts)));
}

}  // namespace

std::string template_digest(const api::ReplicatedJob& replicated_job) {
  Arena arena;
  return digest_of(parsed(arena, replicated_job.template_json).get({"spec", "template"}));
}

JobBuilder::JobBuilder(const api::JobSet& set, const api::ReplicatedJob& replicated_job,
                       Gates gates, const Execution& execution)
    : set_(set), entry_(replicated_job), gates_(gates) {
  in_set_ = place([](const api::ReplicatedJob&) { return true; });
  in_group_ = place(
      [this](const api::ReplicatedJob& entry) { return entry.group_name == entry_.group_name; });
  template_ = parsed(arena_, entry_.template_json);
  make_skeleton(execution);
}

template <class Among>
JobBuilder::Place JobBuilder::place(Among among) const {
  Place out;
  for (const api::ReplicatedJob& entry : set_.replicated_jobs) {
    if (&entry == &entry_) out.start = out.replicas;
    if (among(entry)) out.replicas += entry.replicas;
  }
  return out;
}

void JobBuilder::make_skeleton(const Execution& execution) {
  job_ = Value::object(arena_);
  job_.set("apiVersion", "batch/v1");
  job_.set("kind", "Job");
  const Value metadata = job_.object_at("metadata");
  metadata.set("namespace", set_.meta.ns);
  metadata.array_at("ownerReferences").push_back(controller_reference(arena_, ref_of(set_)));
  for (const std::string_view part : {"labels", "annotations"}) {
    const Value from = template_.get({"metadata", part});
    if (from.is_object()) metadata.set(part, json::clone(arena_, from));
  }
  const Value spec = template_.get("spec");
  job_.set("spec", spec.is_object() ? json::clone(arena_, spec) : Value::object(arena_));
  job_.get("spec").set("suspend", Value::of(set_.suspend));
  const Value pod_template = job_.get("spec").object_at("template");
  const Value pod_metadata = pod_template.object_at("metadata");
  const Value pod = pod_template.object_at("spec");
  maps_ = {metadata.object_at("labels"), metadata.object_at("annotations"),
           pod_metadata.object_at("labels"), pod_metadata.object_at("annotations")};
  for (const Value map : maps_) stamp(map);
  metadata.get("annotations").set(kTemplateDigest, digest_of(template_.get({"spec", "template"})));
  place_exclusively(metadata, pod_metadata);
  if (has_hostnames(set_)) pod.set("subdomain", subdomain(set_));
  add_volumes(pod);
  add_ranks(execution);
  // Last: its container comes after all others, and needs nothing of what they get.
  if (has_barrier(set_, gates_) && is_covered(set_, entry_))
    hold_at_barrier(pod_template, set_, execution.attempt, execution.barrier);
}

// What all Jobs of the entry have in common; JobSet's own keys win over the user's.
void JobBuilder::stamp(Value to) const {
  to.set(label::kJobSetName, set_.meta.name);
  to.set(label::kJobSetUid, set_.meta.uid);
  to.set(label::kReplicatedJobName, entry_.name);
  to.set(label::kReplicatedJobReplicas, std::to_string(entry_.replicas));
  to.set(label::kGlobalReplicas, std::to_string(in_set_.replicas));
  to.set(label::kRestartAttempt, std::to_string(set_.status.restarts));
  to.set(label::kGroupName, entry_.group_name);
  to.set(label::kGroupReplicas, std::to_string(in_group_.replicas));
  if (set_.coordinator) to.set(label::kCoordinator, coordinator_endpoint(set_));
}

void JobBuilder::place_exclusively(Value metadata, Value pod_metadata) {
  const Exclusive exclusive = exclusive_of(set_, template_);
  for (const Value part : {metadata, pod_metadata}) {
    const Value annotations = part.get("annotations");
    if (exclusive.topology) annotations.set(annotation::kExclusiveTopology, *exclusive.topology);
    if (exclusive.strategy) annotations.set(annotation::kNodeSelectorStrategy, *exclusive.strategy);
  }
  by_node_selector_ = exclusive.strategy.has_value();
  if (!by_node_selector_) return;
  const Value toleration = Value::object(arena_, 3);
  toleration.set("key", kNoScheduleTaint);
  toleration.set("operator", "Exists");
  toleration.set("effect", "NoSchedule");
  job_.get({"spec", "template", "spec"}).array_at("tolerations").push_back(toleration);
}

void JobBuilder::add_volumes(Value pod) {
  for (const api::VolumeClaimPolicy& policy : set_.volume_claim_policies) {
    for (const std::string& text : policy.templates_json) {
      const Value claim = parsed(arena_, text);
      const std::string_view name = claim.get({"metadata", "name"}).as_string();
      if (!mounts(pod, name)) continue;
      const Value volume = Value::object(arena_, 2);
      volume.set("name", name);
      volume.object_at("persistentVolumeClaim").set("claimName", claim_name(name, set_));
      pod.array_at("volumes").push_back(volume);
    }
  }
}

void JobBuilder::add_ranks(const Execution& execution) {
  ranks_ = ranks_of(set_, entry_);
  if (!ranks_) return;
  const std::string port = std::to_string(execution.master_port);
  add_rank_environment(job_.get("spec"), set_, *ranks_, port);
  job_.get({"metadata", "annotations"}).set(kMasterPort, port);
}

std::string JobBuilder::build(std::int32_t index) {
  // The tree points at these texts while it is written.
  const std::string name = job_name(set_, entry_.name, index);
  const std::string index_text = std::to_string(index);
  const std::string global_index = std::to_string(in_set_.start + index);
  const std::string group_index = std::to_string(in_group_.start + index);
  const std::string key = job_key(set_.meta.ns, name);
  const std::string attempt = std::to_string(job_attempt(set_, entry_.name, index));
  const std::string node = fmt::format("{}_{}", set_.meta.ns, name);
  const std::string rank = ranks_ ? std::to_string(ranks_->first + index * ranks_->per_job) : "";
  job_.get("metadata").set("name", Value::view(name));
  for (const Value map : maps_) {
    map.set(label::kJobIndex, Value::view(index_text));
    map.set(label::kJobGlobalIndex, Value::view(global_index));
    map.set(label::kJobGroupIndex, Value::view(group_index));
    map.set(label::kJobKey, Value::view(key));
    if (gates_.restart_job) map.set(label::kJobRestartAttempt, Value::view(attempt));
  }
  if (ranks_) {
    job_.get({"spec", "template", "metadata", "annotations"})
        .set(annotation::kRankOffset, Value::view(rank));
  }
  if (by_node_selector_) {
    job_.get({"spec", "template", "spec"})
        .object_at("nodeSelector")
        .set(kNamespacedJob, Value::view(node));
  }
  return json::write(job_);
}

Value JobBuilder::resume_patch(Arena& arena, const Child& job) const {
  Value patch = Value::object(arena);
  const Value wanted = template_.get({"spec", "template"});
  patch.object_at("metadata").object_at("annotations").set(kTemplateDigest, digest_of(wanted));
  const Value spec = patch.object_at("spec");
  spec.set("suspend", Value::of(false));
  const Value pod_template = spec.object_at("template");
  for (const std::string_view part : {"labels", "annotations"}) {
    const Value added = without_ours(arena, wanted.get({"metadata", part}));
    if (!added.empty()) pod_template.object_at("metadata").set(part, added);
  }
  const Value pod = pod_template.object_at("spec");
  const Value selector = pod.object_at("nodeSelector");
  for (const std::string& key : job.node_selector_keys) selector.set(key, Value());
  for (const auto& [key, value] : wanted.get({"spec", "nodeSelector"}).members()) {
    selector.set(key, value);
  }
  if (by_node_selector_) selector.set(kNamespacedJob, fmt::format("{}_{}", job.ns, job.name));
  if (selector.empty()) pod.erase("nodeSelector");
  // The skeleton's, which tolerates what we ask for ourselves; null takes away what was there.
  const Value skeleton = job_.get({"spec", "template", "spec"});
  pod.set("tolerations", skeleton.get("tolerations"));
  pod.set("schedulingGates", skeleton.get("schedulingGates"));
  return patch;
}

}  // namespace muster::controllers::jobset
