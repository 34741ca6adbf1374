#include "controllers/job/pod_view.h"

#include <algorithm>
#include <set>

#include "base/number.h"
#include "controllers/job/names.h"
#include "controllers/runtime/spans.h"

namespace muster::controllers::job {
namespace {

using api::PodPhase;
using json::Value;

// Whatever is no index reads as none.
std::int64_t index_of(std::optional<std::string_view> text) {
  const auto index = parse_number<std::int64_t>(text.value_or(""));
  return index && *index >= 0 ? *index : kNoIndex;
}

// Whatever is no count of failures reads as none.
std::int32_t failure_count(std::optional<std::string_view> text) {
  return std::max(0, parse_number<std::int32_t>(text.value_or("")).value_or(0));
}

PodPhase phase_of(std::string_view text) {
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return text == "Unknown" ? PodPhase::kUnknown : PodPhase::kPending;
}

// Init containers that run beside the others until the pod ends.
std::set<std::string_view> sidecars(Value spec) {
  std::set<std::string_view> names;
  for (const Value container : spec.get("initContainers").items()) {
    if (container.get("restartPolicy").as_string() == "Always")
      names.insert(container.get("name").as_string());
  }
  return names;
}

// One walk over the containers of a pod.
class ContainerReader {
 public:
  ContainerReader(Pod& pod, Value spec) : pod_(pod), sidecars_(sidecars(spec)) {}

  void read(Value status) {
    for (const Value container : status.get("containerStatuses").items()) {
      pod_.worst_restarts = std::max(pod_.worst_restarts, restarts(container));
      read_container(container, true);
    }
    for (const Value container : status.get("initContainerStatuses").items()) {
      const bool sidecar = sidecars_.contains(container.get("name").as_string());
      if (sidecar)
        pod_.worst_sidecar_restarts = std::max(pod_.worst_sidecar_restarts, restarts(container));
      read_container(container, sidecar);
    }
  }

  // When the last of them ended; nothing if one still runs or did not say.
  std::optional<Time> end() const { return all_ended_ ? end_ : std::nullopt; }

 private:
  static std::int32_t restarts(Value container) {
    return static_cast<std::int32_t>(container.get("restartCount").as_int());
  }

  void read_container(Value container, bool decides_the_end) {
    pod_.restarts += restarts(container);
    const Value terminated = container.get({"state", "terminated"});
    const auto code = static_cast<std::int32_t>(terminated.get("exitCode").as_int());
    if (pod_.phase == PodPhase::kFailed && terminated.is_object() && code != 0)
      pod_.exits.push_back({std::string(container.get("name").as_string()), code});
    if (!decides_the_end) return;
    const auto ended = parse_time(terminated.get("finishedAt").as_string());
    if (!ended) {
      all_ended_ = false;
    } else if (!end_ || *end_ < *ended) {
      end_ = ended;
    }
  }

  Pod& pod_;
  std::set<std::string_view> sidecars_;
  bool all_ended_ = true;
  std::optional<Time> end_;
};

void read_conditions(Pod& pod, Value conditions, std::optional<Time>& not_ready_since) {
  for (const Value condition : conditions.items()) {
    const std::string_view type = condition.get("type").as_string();
    const std::string_view status = condition.get("status").as_string();
    if (type == "Ready") {
      const auto since = parse_time(condition.get("lastTransitionTime").as_string());
      pod.ready = status == "True";
      if (pod.ready) pod.ready_since = since;
      if (status == "False") not_ready_since = since;
    }
    if (pod.phase == PodPhase::kFailed)
      pod.conditions.emplace_back(std::string(type), std::string(status));
  }
}

// When the deletion was asked for: the timestamp is the end of the grace period.
std::optional<Time> deletion_asked(const api::Meta& meta, Value metadata) {
  if (!meta.deletion_time) return std::nullopt;
  return *meta.deletion_time - span_of(metadata.get("deletionGracePeriodSeconds").as_int());
}

void read_meta(Pod& pod, const api::Meta& meta) {
  pod.ref = ref_of(meta, "v1", "Pod");
  pod.labels = meta.labels;
  pod.tracked = std::ranges::find(meta.finalizers, kTrackingFinalizer) != meta.finalizers.end();
  pod.deleting = meta.deletion_time.has_value();
  pod.created = meta.creation_time.value_or(Time{});
  pod.index = index_of(meta.annotation(kCompletionIndex));
  pod.index_failures = failure_count(meta.annotation(kIndexFailureCount));
  pod.index_ignored_failures = failure_count(meta.annotation(kIndexIgnoredFailureCount));
  if (const api::OwnerReference* owner = meta.controller()) {
    pod.owner_uid = owner->uid;
    pod.owned_by_job = owner->kind == "Job" && owner->api_version.starts_with("batch/");
    if (pod.owned_by_job) pod.owner_name = owner->name;
    pod.wears_owner_uid = meta.label(api::label::kControllerUid) == owner->uid;
  }
}

}  // namespace

Pod read_pod(const store::Object& object, Value content) {
  Pod pod;
  const api::Meta& meta = object.meta();
  read_meta(pod, meta);
  if (!pod.owned_by_job && !pod.owner_uid.empty()) return pod;  // another controller's
  const Value spec = content.get("spec"), status = content.get("status");
  pod.phase = phase_of(status.get("phase").as_string());
  pod.assigned = !spec.get("nodeName").as_string().empty();
  std::optional<Time> not_ready_since;
  read_conditions(pod, status.get("conditions"), not_ready_since);
  ContainerReader containers(pod, spec);
  containers.read(status);
  const auto asked = deletion_asked(meta, content.get("metadata"));
  pod.finished = containers.end().value_or(not_ready_since.value_or(asked.value_or(pod.created)));
  return pod;
}

}  // namespace muster::controllers::job
