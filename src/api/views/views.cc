#include "api/views/views.h"

#include <algorithm>
#include <array>

#include "json/write.h"

namespace muster::api {
namespace {

using json::Member;
using json::Value;

std::string text(Value object, std::string_view key) {
  return std::string(object.get(key).as_string());
}

std::int32_t int32(Value object, std::string_view key, std::int32_t otherwise = 0) {
  const Value value = object.get(key);
  return value.is_number() ? static_cast<std::int32_t>(value.as_int()) : otherwise;
}

std::optional<std::int32_t> optional_int32(Value object, std::string_view key) {
  const Value value = object.get(key);
  if (!value.is_number()) return std::nullopt;
  return static_cast<std::int32_t>(value.as_int());
}

std::optional<Time> time(Value object, std::string_view key) {
  const Value value = object.get(key);
  return value.is_string() ? parse_time(value.as_string()) : std::nullopt;
}

std::vector<std::string> texts(Value list) {
  std::vector<std::string> out;
  for (const Value item : list.items()) out.emplace_back(item.as_string());
  return out;
}

std::vector<std::int32_t> int32s(Value list) {
  std::vector<std::int32_t> out;
  for (const Value item : list.items()) out.push_back(static_cast<std::int32_t>(item.as_int()));
  return out;
}

std::vector<std::pair<std::string, std::string>> pairs(Value map) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Member& member : map.members()) out.emplace_back(member.key, member.value.as_string());
  return out;
}

template <class Read>
auto list_of(Value list, Read read) {
  std::vector<decltype(read(Value()))> out;
  out.reserve(list.size());
  for (const Value item : list.items()) out.push_back(read(item));
  return out;
}

// The position of a word in a list of words that stands in the order of an enum.
template <class Enum, std::size_t N>
Enum word_of(Value value, const std::array<std::string_view, N>& words, Enum otherwise) {
  const auto found = std::ranges::find(words, value.as_string());
  return found == words.end() ? otherwise : static_cast<Enum>(found - words.begin());
}

constexpr std::array<std::string_view, 3> kGangModes{"Off", "Gang", "ReplicatedGang"};
constexpr std::array<std::string_view, 2> kDependencyStatuses{"Ready", "Complete"};
constexpr std::array<std::string_view, 3> kRestartStrategies{"Recreate", "BlockingRecreate",
                                                             "InPlaceRestart"};
constexpr std::array<std::string_view, 5> kFailureActions{
    "FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob",
    "RestartJobAndIgnoreMaxRestarts"};
constexpr std::array<std::string_view, 5> kPhases{"Unknown", "Pending", "Running", "Succeeded",
                                                  "Failed"};

OwnerReference read_owner(Value owner) {
  return {.api_version = text(owner, "apiVersion"),
          .kind = text(owner, "kind"),
          .name = text(owner, "name"),
          .uid = text(owner, "uid"),
          .controller = owner.get("controller").as_bool(),
          .block_owner_deletion = owner.get("blockOwnerDeletion").as_bool()};
}

Condition read_condition(Value condition) {
  Condition out;
  out.type = text(condition, "type");
  out.status = text(condition, "status");
  out.is_true = out.status == "True";
  out.reason = text(condition, "reason");
  out.message = text(condition, "message");
  out.last_transition_time = time(condition, "lastTransitionTime");
  if (const Value generation = condition.get("observedGeneration"); generation.is_number()) {
    out.observed_generation = generation.as_int();
  }
  return out;
}

std::optional<GangMode> read_gang_mode(Value gang_config) {
  if (gang_config.is_null()) return std::nullopt;
  return word_of(gang_config.get("gangMode"), kGangModes, GangMode::kOff);
}

ReplicatedJob read_replicated_job(Value entry) {
  ReplicatedJob out;
  out.name = text(entry, "name");
  out.group_name = text(entry, "groupName");
  if (out.group_name.empty()) out.group_name = "default";
  out.replicas = int32(entry, "replicas", 1);
  out.depends_on = list_of(entry.get("dependsOn"), [](Value dependency) {
    return Dependency{
        text(dependency, "name"),
        word_of(dependency.get("status"), kDependencyStatuses, DependencyStatus::kReady)};
  });
  out.gang_mode = read_gang_mode(entry.get("gangConfig"));
  const Value job_spec = entry.get({"template", "spec"});
  out.parallelism = int32(job_spec, "parallelism", 1);
  out.completions = optional_int32(job_spec, "completions");
  out.template_json = json::write(entry.get("template"));
  return out;
}

FailurePolicy read_failure_policy(Value policy) {
  FailurePolicy out;
  out.max_restarts = int32(policy, "maxRestarts");
  out.restart_strategy =
      word_of(policy.get("restartStrategy"), kRestartStrategies, RestartStrategy::kRecreate);
  out.rules = list_of(policy.get("rules"), [](Value rule) {
    return FailurePolicyRule{
        .name = text(rule, "name"),
        .action = word_of(rule.get("action"), kFailureActions, FailureAction::kRestartJobSet),
        .on_job_failure_reasons = texts(rule.get("onJobFailureReasons")),
        .on_job_failure_message_patterns = texts(rule.get("onJobFailureMessagePatterns")),
        .target_replicated_jobs = texts(rule.get("targetReplicatedJobs"))};
  });
  return out;
}

Network read_network(Value network) {
  return {.enable_dns_hostnames = network.get("enableDNSHostnames").as_bool(),
          .subdomain = text(network, "subdomain"),
          .publish_not_ready_addresses = network.get("publishNotReadyAddresses").is_null() ||
                                         network.get("publishNotReadyAddresses").as_bool()};
}

VolumeClaimPolicy read_volume_claim_policy(Value policy) {
  return {
      .retain_when_deleted = policy.get({"retentionPolicy", "whenDeleted"}).as_string() == "Retain",
      .templates_json =
          list_of(policy.get("templates"), [](Value claim) { return json::write(claim); })};
}

ReplicatedJobStatus read_replicated_job_status(Value status) {
  return {.name = text(status, "name"),
          .ready = int32(status, "ready"),
          .succeeded = int32(status, "succeeded"),
          .failed = int32(status, "failed"),
          .active = int32(status, "active"),
          .suspended = int32(status, "suspended"),
          .job_restarts = int32s(status.get("jobRestarts")),
          .job_restarts_count_towards_max = int32s(status.get("jobRestartsCountTowardsMax"))};
}

JobSetStatus read_job_set_status(Value status) {
  JobSetStatus out;
  out.conditions = read_conditions(status.get("conditions"));
  out.restarts = int32(status, "restarts");
  out.restarts_count_towards_max = int32(status, "restartsCountTowardsMax");
  out.terminal_state = text(status, "terminalState");
  out.replicated_jobs = list_of(status.get("replicatedJobsStatus"), read_replicated_job_status);
  out.previous_in_place_restart_attempt = optional_int32(status, "previousInPlaceRestartAttempt");
  out.current_in_place_restart_attempt = optional_int32(status, "currentInPlaceRestartAttempt");
  return out;
}

ResourceAmounts read_amounts(Value amounts) {
  ResourceAmounts out;
  for (const Member& member : amounts.members()) {
    Result<Quantity> quantity = Quantity::read(member.value);
    if (quantity) out.emplace(member.key, *std::move(quantity));
  }
  return out;
}

std::vector<ResourceAmounts> read_requests(Value containers) {
  return list_of(containers, [](Value container) {
    return read_amounts(container.get({"resources", "requests"}));
  });
}

ContainerStatus read_container_status(Value status) {
  ContainerStatus out;
  out.name = text(status, "name");
  out.ready = status.get("ready").as_bool();
  out.started = status.get("started").as_bool();
  out.restart_count = int32(status, "restartCount");
  const Value state = status.get("state");
  out.running = state.has("running");
  out.exit_code = optional_int32(state.get("terminated"), "exitCode");
  out.reason = text(state.get(out.exit_code ? "terminated" : "waiting"), "reason");
  return out;
}

}  // namespace

const Condition* find_condition(const Conditions& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

bool is_condition_true(const Conditions& conditions, std::string_view type) {
  const Condition* const found = find_condition(conditions, type);
  return found != nullptr && found->is_true;
}

std::int32_t ReplicatedJob::pods_per_job() const {
  return completions ? std::min(parallelism, *completions) : parallelism;
}

const ReplicatedJob* JobSet::replicated_job(std::string_view name) const {
  const auto found = std::ranges::find(replicated_jobs, name, &ReplicatedJob::name);
  return found == replicated_jobs.end() ? nullptr : &*found;
}

Meta read_meta(Value object) {
  const Value metadata = object.get("metadata");
  Meta out;
  out.name = text(metadata, "name");
  out.ns = text(metadata, "namespace");
  out.uid = text(metadata, "uid");
  out.resource_version = text(metadata, "resourceVersion");
  out.generation = metadata.get("generation").as_int();
  out.creation_time = time(metadata, "creationTimestamp");
  out.deletion_time = time(metadata, "deletionTimestamp");
  out.labels = pairs(metadata.get("labels"));
  out.annotations = pairs(metadata.get("annotations"));
  out.finalizers = texts(metadata.get("finalizers"));
  out.owners = list_of(metadata.get("ownerReferences"), read_owner);
  return out;
}

Conditions read_conditions(Value conditions) { return list_of(conditions, read_condition); }

JobSet read_job_set(Value object) {
  const Value spec = object.get("spec");
  JobSet out;
  out.meta = read_meta(object);
  out.replicated_jobs = list_of(spec.get("replicatedJobs"), read_replicated_job);
  if (const Value network = spec.get("network"); !network.is_null())
    out.network = read_network(network);
  const Value success = spec.get("successPolicy");
  out.success_policy = {.any = success.get("operator").as_string() == "Any",
                        .target_replicated_jobs = texts(success.get("targetReplicatedJobs"))};
  if (const Value policy = spec.get("failurePolicy"); !policy.is_null()) {
    out.failure_policy = read_failure_policy(policy);
  }
  out.in_order = spec.get({"startupPolicy", "startupPolicyOrder"}).as_string() == "InOrder";
  out.suspend = spec.get("suspend").as_bool();
  if (const Value coordinator = spec.get("coordinator"); !coordinator.is_null()) {
    out.coordinator = {text(coordinator, "replicatedJob"), int32(coordinator, "jobIndex"),
                       int32(coordinator, "podIndex")};
  }
  out.managed_by = text(spec, "managedBy");
  out.ttl_seconds_after_finished = optional_int32(spec, "ttlSecondsAfterFinished");
  out.volume_claim_policies = list_of(spec.get("volumeClaimPolicies"), read_volume_claim_policy);
  if (const Value group = spec.get("groupSchedulingConfig"); !group.is_null()) {
    out.group_scheduling = {optional_int32(group, "timeoutAfterSeconds"),
                            texts(group.get("targetReplicatedJobs"))};
  }
  out.gang_mode = read_gang_mode(spec.get("gangConfig"));
  out.status = read_job_set_status(object.get("status"));
  return out;
}

Job read_job(Value object) {
  const Value spec = object.get("spec");
  const Value status = object.get("status");
  Job out;
  out.meta = read_meta(object);
  out.parallelism = int32(spec, "parallelism", 1);
  out.completions = optional_int32(spec, "completions");
  out.backoff_limit = int32(spec, "backoffLimit", 6);
  out.indexed = spec.get("completionMode").as_string() == "Indexed";
  out.suspend = spec.get("suspend").as_bool();
  out.managed_by = text(spec, "managedBy");
  if (const Value deadline = spec.get("activeDeadlineSeconds"); deadline.is_number()) {
    out.active_deadline_seconds = deadline.as_int();
  }
  out.ttl_seconds_after_finished = optional_int32(spec, "ttlSecondsAfterFinished");
  out.template_json = json::write(spec.get("template"));
  out.conditions = read_conditions(status.get("conditions"));
  out.active = int32(status, "active");
  out.ready = int32(status, "ready");
  out.succeeded = int32(status, "succeeded");
  out.failed = int32(status, "failed");
  out.terminating = int32(status, "terminating");
  out.completed_indexes = text(status, "completedIndexes");
  out.failed_indexes = text(status, "failedIndexes");
  out.start_time = time(status, "startTime");
  out.completion_time = time(status, "completionTime");
  return out;
}

Pod read_pod(Value object) {
  const Value spec = object.get("spec");
  const Value status = object.get("status");
  Pod out;
  out.meta = read_meta(object);
  out.node_name = text(spec, "nodeName");
  out.scheduler_name = text(spec, "schedulerName");
  out.restart_policy = text(spec, "restartPolicy");
  out.priority = int32(spec, "priority");
  out.pod_group = std::string(spec.get({"schedulingGroup", "podGroupName"}).as_string());
  out.scheduling_gates =
      list_of(spec.get("schedulingGates"), [](Value gate) { return text(gate, "name"); });
  out.container_requests = read_requests(spec.get("containers"));
  out.init_container_requests = read_requests(spec.get("initContainers"));
  out.phase = word_of(status.get("phase"), kPhases, PodPhase::kPending);
  out.reason = text(status, "reason");
  out.ip = text(status, "podIP");
  out.start_time = time(status, "startTime");
  out.conditions = read_conditions(status.get("conditions"));
  out.container_statuses = list_of(status.get("containerStatuses"), read_container_status);
  out.init_container_statuses = list_of(status.get("initContainerStatuses"), read_container_status);
  return out;
}

Node read_node(Value object) {
  const Value spec = object.get("spec");
  const Value status = object.get("status");
  Node out;
  out.meta = read_meta(object);
  out.unschedulable = spec.get("unschedulable").as_bool();
  out.taints = list_of(spec.get("taints"), [](Value taint) {
    return Taint{text(taint, "key"), text(taint, "value"), text(taint, "effect")};
  });
  out.allocatable = read_amounts(status.get("allocatable"));
  out.conditions = read_conditions(status.get("conditions"));
  return out;
}

}  // namespace muster::api
