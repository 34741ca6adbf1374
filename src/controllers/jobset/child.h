// What a JobSet needs to know of one of its Jobs. Small: there may be ten thousand of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"
#include "store/store.h"

namespace muster::controllers::jobset {

// An integer in a label: some writers put other things there.
struct LabelNumber {
  bool present = false;
  std::optional<std::int32_t> value;  // nothing if it is absent or no number
};

struct Child {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  bool terminating = false;

  std::optional<std::string> replicated_job;
  LabelNumber job_index;
  LabelNumber restart_attempt;
  LabelNumber job_restart_attempt;
  std::optional<std::int32_t> barrier_attempt;  // in which its pods wait for each other; or never

  std::optional<int> master_port;  // that its pods were told (master_port.h)

  std::string template_digest;  // of the template that it runs by; empty: others made it
  bool suspend = false;
  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;
  // Of the pod template, while suspended: those that a resume may have to take away.
  std::vector<std::string> node_selector_keys;

  std::int32_t active = 0;
  std::int32_t ready = 0;
  std::int64_t succeeded = 0;  // with those that the Job has seen end and not counted yet
  bool has_start_time = false;
  std::string
      held_back;  // why it has not created all its pods, as its Job controller says; or empty

  enum class End : std::uint8_t { kNone, kComplete, kFailed };
  End end = End::kNone;
  // The coordinator's pod was one of its pods and has succeeded.
  bool coordinator_ended = false;
  // Of the condition Failed.
  std::optional<Time> failure_time;
  std::string failure_reason;
  std::string failure_message;

  // Pods that run at the same time when all is well.
  std::int32_t pods_expected() const {
    return completions ? std::min(parallelism, *completions) : parallelism;
  }
  bool is_ready() const { return succeeded + ready >= pods_expected(); }
  ObjectRef ref() const {
    return {.api_version = "batch/v1", .kind = "Job", .ns = ns, .name = name, .uid = uid};
  }
  // For writes that rest on more than its labels: they fail if it has changed since.
  ObjectRef ref_as_seen() const {
    ObjectRef seen = ref();
    seen.resource_version = resource_version;
    return seen;
  }
};

Child read_child(json::Value job);

}  // namespace muster::controllers::jobset
