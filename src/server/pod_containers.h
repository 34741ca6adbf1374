// Which container of a pod, and which of its runs, a request for its log or a channel into it
// means, in upstream's words where it means none (spec: pod-lifecycle 6, 7). Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace muster::server {

// `asked` may be empty if there is but one. kBadRequest.
Result<std::string> choose_container(json::Value pod, std::string_view asked);

bool is_running(json::Value pod, std::string_view container);

struct LogRun {
  int number = 0;  // the restarts before it
  std::string container_id;
};
// The run whose log is meant: the present one, else the last; with `previous` the one before.
// kBadRequest.
Result<LogRun> choose_log_run(json::Value pod, std::string_view container, bool previous);

}  // namespace muster::server
