// The other objects of a JobSet, and changes to its Jobs, as writes.
#pragma once

#include <set>
#include <string>

#include "controllers/jobset/barrier.h"
#include "controllers/jobset/buckets.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::jobset {

// The kinds that a JobSet consists of.
struct Kinds {
  const api::Resource* job_set;
  const api::Resource* job;
  const api::Resource* service;
  const api::Resource* claim;
  const api::Resource* config_map = nullptr;
};

// In the foreground: the name is taken until the last pod is gone, which is what keeps two attempts
// apart. Those that are on their way out already are left alone.
Step delete_previous(const Kinds& kinds, const Children& previous);
// What still runs when the set is over. Only as it was seen: one that has finished in the meantime
// stays, with its logs.
Step delete_running(const Kinds& kinds, const Children& active);

// The headless Service that gives pods their names (spec: jobset 3.9).
Step create_service(const Kinds& kinds, const api::JobSet& set);

// The names of the claims that the set's policies ask for.
std::vector<std::string> claim_names(const api::JobSet& set);
// Those that are not in `existing` (spec: jobset 3.10).
Step create_claims(const Kinds& kinds, const api::JobSet& set,
                   const std::set<std::string, std::less<>>& existing);

// The barrier's ConfigMap, empty (spec: jobset 8.3).
Step create_barrier(const Kinds& kinds, const api::JobSet& set, std::int32_t resumes);
// Pods no longer wait for the coordinator's name.
Step tell_coordinator_ended(const Kinds& kinds, const Signal& signal, std::int32_t attempt);
// An open barrier is behind the set: the next time it runs, its pods wait again.
Step renew_barrier(const Kinds& kinds, const Signal& signal);

// Brings parallelism and completions of running Jobs to what the template says now (spec: jobset
// 3.14).
Step scale_jobs(const Kinds& kinds, const api::JobSet& set, const Children& active);

// Only as they were seen: one that has finished in the meantime stays as it is.
Step suspend_jobs(const Kinds& kinds, const Children& active);

}  // namespace muster::controllers::jobset
