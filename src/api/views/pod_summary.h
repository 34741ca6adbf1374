// What the columns READY, STATUS and RESTARTS say of a pod (spec: apimachinery 7.3).
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "json/value.h"

namespace muster::api {

struct PodSummary {
  int ready = 0;  // containers and sidecars
  int total = 0;
  std::string status;  // Running, Init:0/2, CrashLoopBackOff, Terminating …
  std::int64_t restarts = 0;
  std::optional<Time> last_restart;
};

PodSummary summarize_pod(json::Value pod);

}  // namespace muster::api
