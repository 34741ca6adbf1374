// Whether enough indexes have succeeded for a successPolicy (spec: job 2.9). Pure.
#pragma once

#include <optional>

#include "api/values/interval_set.h"
#include "controllers/job/job_view.h"

namespace muster::controllers::job {

// The position of the first rule that is met.
std::optional<std::size_t> met_success_rule(const Job& job, const api::IntervalSet& succeeded);

}  // namespace muster::controllers::job
