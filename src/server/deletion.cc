#include "server/deletion.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "api/views/pod_phase.h"

namespace muster::server {
namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::int64_t kDefaultPodGrace = 30;

bool is_core(const api::Resource& resource, std::string_view plural) {
  return resource.gvk.group.empty() && resource.plural == plural;
}

bool contains(json::Value list, std::string_view text) {
  return std::ranges::any_of(list.items(),
                             [text](json::Value item) { return item.as_string() == text; });
}

// Explicit option, else a finalizer that is there, else the kind's default.
Propagation choose_propagation(json::Value finalizers, const api::Resource& resource,
                               const DeleteOptions& options) {
  if (options.propagation != Propagation::kDefault) return options.propagation;
  if (contains(finalizers, kOrphan)) return Propagation::kOrphan;
  if (contains(finalizers, kForeground)) return Propagation::kForeground;
  return resource.orphans_by_default ? Propagation::kOrphan : Propagation::kBackground;
}

// Returns whether the finalizers changed.
bool settle_finalizers(json::Value metadata, Propagation propagation) {
  const json::Value before = metadata.get("finalizers");
  const json::Value after = json::Value::array(metadata.arena());
  for (const json::Value item : before.items()) {
    if (item.as_string() != kOrphan && item.as_string() != kForeground) after.push_back(item);
  }
  if (propagation == Propagation::kOrphan) after.push_back(json::Value::view(kOrphan));
  if (propagation == Propagation::kForeground) after.push_back(json::Value::view(kForeground));
  const auto all_in = [](json::Value a, json::Value b) {
    return std::ranges::all_of(a.items(),
                               [b](json::Value item) { return contains(b, item.as_string()); });
  };
  if (all_in(before, after) && all_in(after, before)) return false;
  if (after.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata.set("finalizers", after);
  }
  return true;
}

// Longer than any pod is waited for, and still a time that can be written down.
constexpr std::int64_t kLongestGrace = std::int64_t{1000} * 365 * 86'400;

std::chrono::seconds grace_time(std::int64_t seconds) {
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kLongestGrace));
}

void set_deletion(json::Value metadata, Time when, std::int64_t grace) {
  metadata.set("deletionTimestamp", format_time(when));
  metadata.set("deletionGracePeriodSeconds", json::Value::of(grace));
}

void raise_generation(json::Value metadata) {
  const std::int64_t generation = metadata.get("generation").as_int();
  if (generation > 0) metadata.set("generation", json::Value::of(generation + 1));
}

// A kind without a time of grace that something still holds.
void mark_as_deleting(json::Value metadata, Time now) {
  if (metadata.get("deletionGracePeriodSeconds").is_null()) raise_generation(metadata);
  const std::optional<Time> set = parse_time(metadata.get("deletionTimestamp").as_string());
  set_deletion(metadata, set && *set <= now ? *set : now, 0);
}

std::int64_t pod_grace(json::Value pod, const DeleteOptions& options) {
  if (pod.get({"spec", "nodeName"}).as_string().empty() ||
      api::is_end_phase(pod.get({"status", "phase"}).as_string()))
    return 0;
  const json::Value declared = pod.get({"spec", "terminationGracePeriodSeconds"});
  const std::int64_t grace =
      options.grace_seconds.value_or(declared.is_null() ? kDefaultPodGrace : declared.as_int());
  return grace < 0 ? 1 : grace;
}

enum class Grace : std::uint8_t { kNone, kPending, kSet };

// A pod gets its time of grace; a later request may only shorten it.
Grace settle_pod_grace(json::Value pod, const DeleteOptions& options, Time now) {
  const json::Value metadata = pod.get("metadata");
  const std::optional<Time> deleted_at = parse_time(metadata.get("deletionTimestamp").as_string());
  if (!deleted_at) {
    const std::int64_t grace = pod_grace(pod, options);
    set_deletion(metadata, now + grace_time(grace), grace);
    raise_generation(metadata);
    return Grace::kSet;
  }
  if (metadata.get("deletionGracePeriodSeconds").is_null()) return Grace::kNone;
  const std::int64_t old_grace = metadata.get("deletionGracePeriodSeconds").as_int();
  if (!options.grace_seconds || *options.grace_seconds >= old_grace) return Grace::kPending;
  std::int64_t grace = std::max<std::int64_t>(*options.grace_seconds, 0);
  Time when = *deleted_at - grace_time(old_grace) + grace_time(grace);
  if (grace > 0 && when < now) {  // it may not lie in the past
    when = now;
    grace = 1;
  }
  set_deletion(metadata, when, grace);
  return Grace::kSet;
}

Deletion delete_namespace(json::Value object, Time now) {
  const json::Value metadata = object.get("metadata");
  if (metadata.get("deletionTimestamp").is_null()) {
    metadata.set("deletionTimestamp", format_time(now));
    object.object_at("status").set("phase", "Terminating");
    return {Deletion::Step::kMark};
  }
  const bool held =
      !object.get({"spec", "finalizers"}).empty() || !metadata.get("finalizers").empty();
  return {held ? Deletion::Step::kNothing : Deletion::Step::kRemove};
}

}  // namespace

Deletion prepare_deletion(json::Value object, const api::Resource& resource,
                          const DeleteOptions& options, Time now) {
  if (is_core(resource, "namespaces")) return delete_namespace(object, now);
  const json::Value metadata = object.get("metadata");
  Grace grace = Grace::kNone;
  if (is_core(resource, "pods")) grace = settle_pod_grace(object, options, now);
  if (grace == Grace::kPending) return {Deletion::Step::kNothing};

  Deletion deletion;
  if (resource.storage->gvk.kind != "Event") {  // events have no dependents
    const Propagation propagation =
        choose_propagation(metadata.get("finalizers"), resource, options);
    deletion.orphans_by_default =
        options.propagation == Propagation::kDefault && resource.orphans_by_default &&
        propagation == Propagation::kOrphan && !contains(metadata.get("finalizers"), kOrphan);
    settle_finalizers(metadata, propagation);
  }
  const bool held = !metadata.get("finalizers").empty();
  if (grace == Grace::kSet) {
    const bool later = metadata.get("deletionGracePeriodSeconds").as_int() > 0;
    deletion.step = held || later ? Deletion::Step::kMark : Deletion::Step::kMarkThenRemove;
  } else if (held) {
    mark_as_deleting(metadata, now);
    deletion.step = Deletion::Step::kMark;
  }
  return deletion;
}

}  // namespace muster::server
