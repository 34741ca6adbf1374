// What controllers read of the kinds that they act on, as plain structs. An object's bytes stay the
// truth: a view is read from them once per version and never written back; changes are patches.
//
// All functions expect stored objects, which validation has seen: what is absent reads as its
// default, and nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/values/quantity.h"
#include "api/views/meta.h"
#include "json/value.h"

namespace muster::api {

struct Condition {
  std::string type;
  bool is_true = false;  // status True; Unknown counts as false
  std::string status;
  std::string reason;
  std::string message;
  std::optional<Time> last_transition_time;
  std::optional<std::int64_t> observed_generation;

  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;

const Condition* find_condition(const Conditions& conditions, std::string_view type);
bool is_condition_true(const Conditions& conditions, std::string_view type);

// JobSet (spec: jobset 1.2, 1.3)

enum class GangMode : std::uint8_t { kOff, kGang, kReplicatedGang };
enum class DependencyStatus : std::uint8_t { kReady, kComplete };
enum class RestartStrategy : std::uint8_t { kRecreate, kBlockingRecreate, kInPlaceRestart };
enum class FailureAction : std::uint8_t {
  kFailJobSet,
  kRestartJobSet,
  kRestartJobSetAndIgnoreMaxRestarts,
  kRestartJob,
  kRestartJobAndIgnoreMaxRestarts,
};

struct Dependency {
  std::string name;
  DependencyStatus status = DependencyStatus::kReady;
};

struct ReplicatedJob {
  std::string name;
  std::string group_name;
  std::int32_t replicas = 1;
  std::vector<Dependency> depends_on;
  std::optional<GangMode> gang_mode;
  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;
  std::string template_json;  // the JobTemplateSpec, as it is

  // Pods of one of its Jobs that run at the same time.
  std::int32_t pods_per_job() const;
  // Of all its Jobs.
  std::int64_t pods() const { return std::int64_t{replicas} * pods_per_job(); }
};

struct FailurePolicyRule {
  std::string name;
  FailureAction action = FailureAction::kRestartJobSet;
  std::vector<std::string> on_job_failure_reasons;
  std::vector<std::string> on_job_failure_message_patterns;
  std::vector<std::string> target_replicated_jobs;
};

struct FailurePolicy {
  std::int32_t max_restarts = 0;
  RestartStrategy restart_strategy = RestartStrategy::kRecreate;
  std::vector<FailurePolicyRule> rules;
};

struct SuccessPolicy {
  bool any = false;  // operator Any; else All
  std::vector<std::string> target_replicated_jobs;
};

struct Coordinator {
  std::string replicated_job;
  std::int32_t job_index = 0;
  std::int32_t pod_index = 0;
};

struct Network {
  bool enable_dns_hostnames = false;
  std::string subdomain;
  bool publish_not_ready_addresses = true;
};

struct GroupSchedulingConfig {
  std::optional<std::int32_t> timeout_after_seconds;
  std::vector<std::string> target_replicated_jobs;
};

struct VolumeClaimPolicy {
  bool retain_when_deleted = false;
  std::vector<std::string> templates_json;  // PersistentVolumeClaims, as they are
};

struct ReplicatedJobStatus {
  std::string name;
  std::int32_t ready = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t active = 0;
  std::int32_t suspended = 0;
  std::vector<std::int32_t> job_restarts;
  std::vector<std::int32_t> job_restarts_count_towards_max;

  bool operator==(const ReplicatedJobStatus&) const = default;
};

struct JobSetStatus {
  Conditions conditions;
  std::int32_t restarts = 0;
  std::int32_t restarts_count_towards_max = 0;
  std::string terminal_state;  // Completed, Failed or empty
  std::vector<ReplicatedJobStatus> replicated_jobs;
  std::optional<std::int32_t> previous_in_place_restart_attempt;
  std::optional<std::int32_t> current_in_place_restart_attempt;

  bool operator==(const JobSetStatus&) const = default;
};

struct JobSet {
  Meta meta;
  std::vector<ReplicatedJob> replicated_jobs;
  std::optional<Network> network;
  SuccessPolicy success_policy;
  std::optional<FailurePolicy> failure_policy;
  bool in_order = false;  // startupPolicy InOrder
  bool suspend = false;
  std::optional<Coordinator> coordinator;
  std::string managed_by;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::vector<VolumeClaimPolicy> volume_claim_policies;
  std::optional<GroupSchedulingConfig> group_scheduling;
  std::optional<GangMode> gang_mode;
  JobSetStatus status;

  const ReplicatedJob* replicated_job(
      std::string_view name) const;  // null pointer if there is none
};

// Job

struct Job {
  Meta meta;
  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;
  std::int32_t backoff_limit = 6;
  bool indexed = false;
  bool suspend = false;
  std::string managed_by;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int32_t> ttl_seconds_after_finished;
  std::string template_json;  // the PodTemplateSpec, as it is
  Conditions conditions;
  std::int32_t active = 0;
  std::int32_t ready = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t terminating = 0;
  std::string completed_indexes;
  std::string failed_indexes;
  std::optional<Time> start_time;
  std::optional<Time> completion_time;

  bool is_complete() const { return is_condition_true(conditions, "Complete"); }
  bool is_failed() const { return is_condition_true(conditions, "Failed"); }
  bool is_finished() const { return is_complete() || is_failed(); }
};

// Pod

enum class PodPhase : std::uint8_t { kUnknown, kPending, kRunning, kSucceeded, kFailed };
using ResourceAmounts = std::map<std::string, Quantity, std::less<>>;

struct ContainerStatus {
  std::string name;
  bool ready = false;
  bool started = false;
  std::int32_t restart_count = 0;
  bool running = false;
  std::optional<std::int32_t> exit_code;  // of the ended container
  std::string reason;                     // of waiting or of the end
};

struct Pod {
  Meta meta;
  std::string node_name;
  std::string scheduler_name;
  std::string restart_policy;
  std::int32_t priority = 0;
  std::string pod_group;  // schedulingGroup.podGroupName
  std::vector<std::string> scheduling_gates;
  std::vector<ResourceAmounts> container_requests;
  std::vector<ResourceAmounts> init_container_requests;
  PodPhase phase = PodPhase::kPending;
  std::string reason;
  std::string ip;
  std::optional<Time> start_time;
  Conditions conditions;
  std::vector<ContainerStatus> container_statuses;
  std::vector<ContainerStatus> init_container_statuses;

  bool is_terminal() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  bool is_ready() const { return is_condition_true(conditions, "Ready"); }
};

// Node

struct Taint {
  std::string key;
  std::string value;
  std::string effect;

  bool operator==(const Taint&) const = default;
};

struct Node {
  Meta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceAmounts allocatable;
  Conditions conditions;

  bool is_ready() const { return is_condition_true(conditions, "Ready"); }
};

Meta read_meta(json::Value object);
Conditions read_conditions(json::Value conditions);
JobSet read_job_set(json::Value object);
Job read_job(json::Value object);
Pod read_pod(json::Value object);
Node read_node(json::Value object);

}  // namespace muster::api
