#include "admission/feature_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muster::admission {
namespace {

struct Gate {
  std::string_view name;
  bool enabled = false;
  bool locked = false;
};

constexpr auto kGates = std::to_array<Gate>({
    // JobSet.
    {"ElasticJobSet", false},
    {"InPlaceRestart", false},
    {"RestartJob", false},
    {"TLSOptions", true, true},
    // JobSet, our own: the fields groupSchedulingConfig and gangConfig; quick restarts wait.
    {"GangConfig", true},
    {"GroupScheduling", true},
    {"RestartBackoff", true},
    // Kueue.
    {"AdmissionFairSharing", true},
    {"DynamicResourceAllocation", false},
    {"ElasticJobsViaWorkloadSlices", false},
    {"FailureRecoveryPolicy", false},
    {"FlavorFungibility", true},
    {"HierarchicalCohorts", true},
    {"LendingLimit", true},
    {"LocalQueueDefaulting", true},
    {"LocalQueueMetrics", false},
    {"ManagedJobsNamespaceSelectorAlwaysRespected", true},
    {"MultiKueue", true},
    {"MultiKueueAdaptersForCustomJobs", true},
    {"MultiKueueBatchJobWithManagedBy", true},
    {"MultiKueueClusterProfile", false},
    {"ObjectRetentionPolicies", true},
    {"PartialAdmission", true},
    {"PrioritySortingWithinCohort", true},
    {"PropagateBatchJobLabelsToWorkload", true},
    {"ReclaimablePods", true},
    {"SanitizePodSets", true},
    {"ShortWorkloadNames", false},
    {"TASBalancedPlacement", false},
    {"TASFailedNodeReplacement", true},
    {"TASFailedNodeReplacementFailFast", true},
    {"TASProfileMixed", true},
    {"TASReplaceNodeOnPodTermination", true},
    {"TopologyAwareScheduling", true},
    {"VisibilityOnDemand", true},
    {"WorkloadRequestUseMergePatch", false},
    // Kubernetes. The four gates of gang scheduling are alpha and off upstream; placing gangs is
    // what
    // muster is for, so here they are on.
    {"GangScheduling", true},
    {"GenericWorkload", true},
    {"TopologyAwareWorkloadScheduling", true},
    {"WorkloadAwarePreemption", true},
    {"DRAWorkloadResourceClaims", false},
    {"JobBackoffLimitPerIndex", true, true},
    {"JobManagedBy", true, true},
    {"JobPodReplacementPolicy", true, true},
    {"JobSuccessPolicy", true, true},
    {"MutablePodResourcesForSuspendedJobs", true},
    {"MutableSchedulingDirectivesForSuspendedJobs", true},
    {"OpportunisticBatching", true},
    {"OrderedNamespaceDeletion", true, true},
    {"PodFailurePolicy", true, true},
    {"PodObservedGenerationTracking", true, true},
    {"SidecarContainers", true, true},
    {"StaleControllerConsistencyJob", true},
    {"WorkloadWithJob", false},
});

const Gate* find_gate(std::string_view name) {
  const auto* const found = std::ranges::find(kGates, name, &Gate::name);
  return found == kGates.end() ? nullptr : found;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// One "Name=value".
Result<std::pair<std::string, bool>> parse_setting(std::string_view text) {
  const auto equals = text.find('=');
  const std::string_view name = trimmed(text.substr(0, equals));
  const Gate* const gate = find_gate(name);
  if (!gate) return fail(Code::kBadRequest, fmt::format("unrecognized feature gate: {}", name));
  if (equals == std::string_view::npos)
    return fail(Code::kBadRequest, fmt::format("missing bool value for {}", name));
  const std::string_view value = trimmed(text.substr(equals + 1));
  if (value != "true" && value != "false")
    return fail(Code::kBadRequest,
                fmt::format("invalid value of {}={}: must be true or false", name, value));
  const bool enabled = value == "true";
  if (gate->locked && enabled != gate->enabled)
    return fail(Code::kBadRequest,
                fmt::format("cannot set feature gate {} to {}, feature is locked to {}", name,
                            enabled, gate->enabled));
  return std::pair(std::string(name), enabled);
}

}  // namespace

FeatureGates::FeatureGates() {
  for (const Gate& gate : kGates) gates_.emplace(gate.name, gate.enabled);
}

Status FeatureGates::set(std::string_view list) {
  auto changed = gates_;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view text = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (trimmed(text).empty()) continue;
    MUSTER_TRY(const auto setting, parse_setting(text));
    changed[setting.first] = setting.second;
  }
  gates_ = std::move(changed);
  return {};
}

bool FeatureGates::enabled(std::string_view gate) const {
  const auto found = gates_.find(gate);
  MUSTER_ASSERT(found != gates_.end(), "unknown feature gate");
  return found->second;
}

}  // namespace muster::admission
