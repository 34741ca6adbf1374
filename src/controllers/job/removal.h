// Which active pods go first when there are too many (spec: job 2.4). Pure.
#pragma once

#include <vector>

#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

// True if `a` goes before `b`: the one that has come less far.
bool goes_first(const Pod& a, const Pod& b);

// At least `count` of them. Of an Indexed Job in any case those whose index is not wanted and all
// but the best of those that share one.
std::vector<const Pod*> choose_removed(const Job& job, std::vector<const Pod*> active,
                                       std::size_t count);

}  // namespace muster::controllers::job
