// Finished Jobs go when their ttlSecondsAfterFinished are over (spec: job 3.1). Pure.
#pragma once

#include <chrono>
#include <optional>

#include "api/schema/registry.h"
#include "controllers/runtime/plan.h"
#include "store/store.h"

namespace muster::controllers::ttl {

// What is read of a Job.
struct Candidate {
  ObjectRef ref;
  std::optional<std::chrono::seconds> ttl;
  bool deleting = false;
  bool finished = false;
  std::optional<Time> finished_at;
};

Candidate read_candidate(const store::Object& job, json::Value content);

Plan plan(const api::Resource& jobs, const Candidate& job, Time now);

}  // namespace muster::controllers::ttl
