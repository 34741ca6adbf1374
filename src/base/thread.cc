#include "base/thread.h"

#include <fmt/format.h>

#include <system_error>

namespace muster {

Result<std::thread> start_thread(Task body) try {
  return std::thread(std::move(body));
} catch (const std::system_error& error) {
  return fail(Code::kUnavailable,
              fmt::format("cannot start a thread: {}; this user may have more processes with a "
                          "higher ulimit -u",
                          error.code().message()));
}

}  // namespace muster
