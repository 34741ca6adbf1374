// Scripts that complete verbs, flags and kinds in a shell. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs/verb.h"

namespace muster::cli {

// `shell` is bash, zsh or fish.
std::string completion_script(std::string_view shell, const std::vector<Verb>& verbs,
                              const std::vector<std::string>& kinds);

}  // namespace muster::cli
