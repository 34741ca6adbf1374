// The value of --controllers: which controllers run.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::engine {

// `*` is all of them (ControllerSet::names()), `none` nothing; `jobset,job` selects,
// `*,-job,-agent` removes. Read from left to right. Fails naming what is not known.
Result<std::set<std::string, std::less<>>> parse_controllers(std::string_view list);

}  // namespace muster::engine
