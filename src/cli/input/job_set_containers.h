// The containers in a JobSet's manifest, in the order in which they stand.
#pragma once

#include <functional>
#include <string>

#include "json/value.h"

namespace muster::cli {

// With the path of each, for messages.
void for_each_container(json::Value job_set,
                        const std::function<void(json::Value, const std::string& path)>& look);

}  // namespace muster::cli
