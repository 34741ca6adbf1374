// What a pod's status.phase means.
#pragma once

#include <string_view>

namespace muster::api {

// Its containers are done for good, and take nothing of its node any more.
inline bool is_end_phase(std::string_view phase) {
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace muster::api
