// Which of its Jobs belong to the present attempt of a JobSet, and how they stand (spec: jobset
// 3.3).
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "controllers/jobset/child.h"
#include "controllers/jobset/gates.h"

namespace muster::controllers::jobset {

using Children = std::vector<const Child*>;

struct Buckets {
  Children active;
  Children successful;
  Children failed;
  Children previous;  // of an attempt before: to be deleted
};

// Fails if a label that we put on the Job is gone or garbled: then nothing is safe to decide.
// `barrier_attempt` is the set's: unfinished Jobs of an earlier one could pass its open barrier.
Result<Buckets> sort_into_buckets(const api::JobSet& set, std::span<const Child* const> children,
                                  const Gates& gates, std::int32_t barrier_attempt = 0);

}  // namespace muster::controllers::jobset
