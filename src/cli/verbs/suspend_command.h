// How a JobSet is suspended and resumed: by kubectl, for muster has no verb for it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace muster::cli {

// `flags` name the server and the namespace, each behind a space.
inline std::string suspend_command(std::string_view flags, std::string_view job_set, bool suspend) {
  return fmt::format("kubectl{} patch jobset {} --type=merge -p '{{\"spec\":{{\"suspend\":{}}}}}'",
                     flags, job_set, suspend);
}

}  // namespace muster::cli
