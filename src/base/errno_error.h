// What a system call that has failed says, as an Error.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/result.h"

namespace muster {

// "what: No such file or directory", of errno.
inline std::unexpected<Error> errno_error(std::string_view what, Code code = Code::kInternal) {
  return fail(code, fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace muster
