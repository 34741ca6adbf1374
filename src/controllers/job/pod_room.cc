#include "controllers/job/pod_room.h"

#include <algorithm>

#include "api/views/job_set_names.h"

namespace muster::controllers::job {
namespace {

// The name of a JobSet is never that of a Job here, though both may be the same.
std::string group_of(const std::string& ns, const std::string& set, const std::string& job) {
  return set.empty() ? ns + "//" + job : ns + "/" + set;
}

// Both sides take it from the pod template, so they agree.
std::string group_of(const Job& job) { return group_of(job.ref.ns, job.pods_set, job.ref.name); }

std::string group_of(const Pod& pod) {
  const auto label = std::ranges::find(pod.labels, api::label::kJobSetName,
                                       &std::pair<std::string, std::string>::first);
  return group_of(pod.ref.ns, label == pod.labels.end() ? std::string() : label->second,
                  pod.owner_name);
}

bool waits(const Pod* pod) {
  return pod != nullptr && pod->owned_by_job && pod->is_active() && !pod->assigned;
}

// The one after the last.
template <class Value>
const Value& next_after(const std::set<Value>& set, const Value& last) {
  const auto next = set.upper_bound(last);
  return next == set.end() ? *set.begin() : *next;
}

}  // namespace

std::optional<client::QueueKey> PodRoom::pod_changed(const Pod* before, const Pod* after) {
  const bool waited = waits(before);
  const bool waits_now = waits(after);
  if (!waited && !waits_now) return std::nullopt;
  const std::string from = waited ? group_of(*before) : std::string();
  const std::string to = waits_now ? group_of(*after) : std::string();
  if (from == to) return std::nullopt;
  if (waits_now) {
    ++groups_[to].waiting;
    ++of_all_;
  }
  if (!waited) return std::nullopt;
  --groups_.at(from).waiting;
  --of_all_;
  drop_if_empty(from);
  return next_held(from);
}

void PodRoom::look(const client::QueueKey& key) {
  const auto coming = coming_.extract(key);
  if (coming.empty()) return;
  const auto& [group, births] = coming.mapped();
  groups_.at(group).coming -= births;
  of_all_ -= births;
  drop_if_empty(group);
}

void PodRoom::forget(const client::QueueKey& key) {
  look(key);
  let_off(key);
}

void PodRoom::let_off(const client::QueueKey& key) {
  const auto held = held_.extract(key);
  if (held.empty()) return;
  const std::string& group = held.mapped();
  Group& members = groups_.at(group);
  members.held.erase(key);
  if (members.held.empty()) held_groups_.erase(group);
  drop_if_empty(group);
}

CreationRoom PodRoom::limit_for(const Job& job) const { return limit_of(group_of(job)); }

CreationRoom PodRoom::limit_of(const std::string& group) const {
  const auto at = groups_.find(group);
  const std::size_t used = at == groups_.end() ? 0 : at->second.waiting + at->second.coming;
  return creation_room(limits_, used, of_all_);
}

std::optional<client::QueueKey> PodRoom::planned(const Job& job, std::size_t births,
                                                 bool held_back) {
  const client::QueueKey key{job.ref.ns, job.ref.name};
  const std::string group = group_of(job);
  let_off(key);
  if (births > 0) {
    coming_[key] = {group, births};
    groups_[group].coming += births;
    of_all_ += births;
  }
  if (!held_back) return next_held(group);
  held_[key] = group;
  groups_[group].held.insert(key);
  held_groups_.insert(group);
  return std::nullopt;
}

// Of this group if it has room, else of the next one that has.
std::optional<client::QueueKey> PodRoom::next_held(const std::string& group) {
  if (auto key = next_held_in(group)) return key;
  if (held_groups_.empty()) return std::nullopt;
  last_group_ = next_after(held_groups_, last_group_);
  return next_held_in(last_group_);
}

std::optional<client::QueueKey> PodRoom::next_held_in(const std::string& group) {
  const auto at = groups_.find(group);
  if (at == groups_.end() || at->second.held.empty() || limit_of(group).room == 0)
    return std::nullopt;
  return at->second.last = next_after(at->second.held, at->second.last);
}

void PodRoom::drop_if_empty(const std::string& group) {
  const auto at = groups_.find(group);
  if (at->second.waiting == 0 && at->second.coming == 0 && at->second.held.empty())
    groups_.erase(at);
}

}  // namespace muster::controllers::job
