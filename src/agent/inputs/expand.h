// $(NAME) in command lines, values of variables and paths (pod-lifecycle 4.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/inputs/environment.h"
#include "base/result.h"

namespace muster::agent {

// One pass from left to right; a value that is put in is not looked at again. $$ is a dollar, a
// name that is not known stays as it is written, and so does every other dollar. Returns nothing if
// the result would have more than `most` bytes; never makes more than that.
std::optional<std::string> expand(std::string_view text, const Variables& variables,
                                  std::size_t most);

// The same for paths, where a name without a value would lead to a wrong place: it is an error. So
// is a path longer than kMostPath.
Result<std::string> expand_all(std::string_view text, const Variables& variables);

}  // namespace muster::agent
