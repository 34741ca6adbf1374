#include "controllers/jobset/tally.h"

#include <algorithm>
#include <map>

namespace muster::controllers::jobset {
namespace {

// Counts Jobs under the entries that they belong to; those of unknown entries count nowhere.
class Counter {
 public:
  explicit Counter(Tallies& tallies) {
    for (Tally& tally : tallies) by_name_.emplace(tally.replicated_job->name, &tally);
  }

  template <class Count>
  void add(const Children& children, Count count) {
    for (const Child* child : children) {
      if (!child->replicated_job) continue;
      if (last_ == nullptr || last_->replicated_job->name != *child->replicated_job) {
        const auto found = by_name_.find(*child->replicated_job);
        if (found == by_name_.end()) continue;
        last_ = found->second;  // Jobs come in the order of their names
      }
      ++last_->present;
      count(last_->status, *child);
    }
  }

 private:
  std::map<std::string_view, Tally*> by_name_;
  Tally* last_ = nullptr;
};

// Restarts of single Jobs are not recounted: they are carried on.
void carry_restarts(const api::JobSetStatus& stored, Tallies& tallies) {
  for (Tally& tally : tallies) {
    const auto found = std::ranges::find(stored.replicated_jobs, tally.replicated_job->name,
                                         &api::ReplicatedJobStatus::name);
    if (found == stored.replicated_jobs.end()) continue;
    tally.status.job_restarts = found->job_restarts;
    tally.status.job_restarts_count_towards_max = found->job_restarts_count_towards_max;
  }
}

}  // namespace

Tallies tally(const api::JobSet& set, const Buckets& buckets, const Gates& gates) {
  Tallies out;
  out.reserve(set.replicated_jobs.size());
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    out.push_back({.replicated_job = &entry, .status = {.name = entry.name}});
  }
  Counter counter(out);
  counter.add(buckets.active, [](api::ReplicatedJobStatus& status, const Child& child) {
    if (child.is_ready()) ++status.ready;
    if (child.active > 0) ++status.active;
    if (child.suspend) ++status.suspended;
  });
  counter.add(buckets.successful,
              [](api::ReplicatedJobStatus& status, const Child&) { ++status.succeeded; });
  counter.add(buckets.failed,
              [](api::ReplicatedJobStatus& status, const Child&) { ++status.failed; });
  if (gates.restart_job) carry_restarts(set.status, out);
  return out;
}

const Tally* find_tally(const Tallies& tallies, std::string_view replicated_job) {
  const auto found = std::ranges::find(
      tallies, replicated_job,
      [](const Tally& tally) -> const std::string& { return tally.replicated_job->name; });
  return found == tallies.end() ? nullptr : &*found;
}

bool all_ready(const api::JobSet& set, const api::JobSetStatus& status) {
  std::int64_t ready = 0, wanted = 0;
  for (const api::ReplicatedJobStatus& entry : status.replicated_jobs)
    ready += entry.ready + entry.succeeded;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) wanted += entry.replicas;
  return ready == wanted;
}

std::vector<api::ReplicatedJobStatus> stored_statuses(const Tallies& tallies) {
  std::vector<api::ReplicatedJobStatus> out;
  out.reserve(tallies.size());
  for (const Tally& tally : tallies) out.push_back(tally.status);
  std::ranges::sort(out, std::ranges::greater(), &api::ReplicatedJobStatus::name);
  return out;
}

}  // namespace muster::controllers::jobset
