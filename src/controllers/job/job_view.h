// What the Job controller reads of a Job: its spec as plain values, its status as far as the next
// one is computed from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/values/selector.h"
#include "api/views/views.h"
#include "controllers/runtime/plan.h"
#include "store/store.h"

namespace muster::controllers::job {

enum class FailureAction : std::uint8_t { kIgnore, kCount, kFailIndex, kFailJob };

// One rule of a podFailurePolicy; it looks at exit codes or at conditions.
struct PodFailureRule {
  std::optional<FailureAction> action;  // nothing if this version does not know it
  struct ExitCodes {
    std::string container;   // empty: any
    std::optional<bool> in;  // operator In or NotIn; nothing if this version does not know it
    std::vector<std::int32_t> values;
  };
  std::optional<ExitCodes> exit_codes;
  struct Pattern {
    std::string type;
    std::string status;
  };
  std::vector<Pattern> conditions;
};

// One rule of a successPolicy; at least one of the two is set.
struct SuccessRule {
  std::optional<std::string> indexes;  // "0,2-4"
  std::optional<std::int64_t> count;
};

struct Job {
  enum class Mode : std::uint8_t { kNonIndexed, kIndexed, kUnknown };

  ObjectRef ref;
  std::int64_t generation = 0;
  bool deleting = false;

  Mode mode = Mode::kNonIndexed;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  std::int64_t backoff_limit = 6;
  std::optional<std::int32_t> backoff_limit_per_index;
  std::optional<std::int64_t> max_failed_indexes;
  std::optional<std::chrono::seconds> active_deadline;
  bool suspend = false;
  bool restarts_in_place = false;  // restartPolicy OnFailure
  // A pod that goes away is replaced when it has failed, not while it is still going.
  bool replaces_only_failed = false;
  bool has_failure_policy = false;
  std::vector<PodFailureRule> failure_rules;
  std::vector<SuccessRule> success_rules;
  std::string managed_by;
  api::LabelSelector selector;
  bool selects_by_uid = false;  // the selector asks for this Job's uid and nothing else
  std::string template_json;    // the PodTemplateSpec, as it is
  std::string pods_set;         // the JobSet that its pods say they belong to; or empty

  std::string status_json;  // the whole status, as it is
  api::Conditions conditions;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::string completed_indexes;
  std::string failed_indexes;
  std::vector<std::string> uncounted_succeeded;  // UIDs
  std::vector<std::string> uncounted_failed;
  std::optional<Time> start_time;

  bool is_indexed() const { return mode == Mode::kIndexed; }
  bool is_managed_elsewhere() const;
  bool is_complete() const { return true_condition("Complete") != nullptr; }
  bool is_failed() const { return true_condition("Failed") != nullptr; }
  bool is_finished() const { return is_complete() || is_failed(); }
  // Null if there is none. One that is False is as good as absent.
  const api::Condition* true_condition(std::string_view type) const;
  // Whether a pod with this index can belong to it.
  bool has_index(std::int64_t index) const { return index >= 0 && index < completions.value_or(0); }
  bool selects(const std::vector<std::pair<std::string, std::string>>& labels) const;
};

Job read_job(const store::Object& object, json::Value content);

}  // namespace muster::controllers::job
