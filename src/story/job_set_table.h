// The columns that `muster get jobsets` shows; kubectl shows upstream's. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace muster::story {

// NAME STATE STAGE READY RESTARTS AGE, and wide WAITING FOR.
std::vector<std::string> job_set_columns(bool wide);
std::vector<std::string> job_set_cells(json::Value job_set, Time now, bool wide);

}  // namespace muster::story
