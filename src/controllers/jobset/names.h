// The names, labels and annotations by which users, Kueue and tools know a JobSet's objects (spec:
// jobset 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/views.h"

namespace muster::controllers::jobset {

inline constexpr std::string_view kApiVersion = "jobset.x-k8s.io/v1alpha2";
inline constexpr std::string_view kKind = "JobSet";
// The value of spec.managedBy that means us, as an absent one does.
inline constexpr std::string_view kManager = "jobset.sigs.k8s.io/jobset-controller";

// On every Job and every pod template, as label and as annotation.
namespace label {
inline constexpr std::string_view kPrefix = "jobset.sigs.k8s.io/";
inline constexpr std::string_view kJobSetName = "jobset.sigs.k8s.io/jobset-name";
inline constexpr std::string_view kJobSetUid = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr std::string_view kReplicatedJobName = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr std::string_view kReplicatedJobReplicas =
    "jobset.sigs.k8s.io/replicatedjob-replicas";
inline constexpr std::string_view kGlobalReplicas = "jobset.sigs.k8s.io/global-replicas";
inline constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
inline constexpr std::string_view kJobGlobalIndex = "jobset.sigs.k8s.io/job-global-index";
inline constexpr std::string_view kJobKey = "jobset.sigs.k8s.io/job-key";
inline constexpr std::string_view kRestartAttempt = "jobset.sigs.k8s.io/restart-attempt";
inline constexpr std::string_view kJobRestartAttempt = "jobset.sigs.k8s.io/job-restart-attempt";
inline constexpr std::string_view kGroupName = "jobset.sigs.k8s.io/group-name";
inline constexpr std::string_view kGroupReplicas = "jobset.sigs.k8s.io/group-replicas";
inline constexpr std::string_view kJobGroupIndex = "jobset.sigs.k8s.io/job-group-index";
inline constexpr std::string_view kCoordinator = "jobset.sigs.k8s.io/coordinator";
}  // namespace label

// Exclusive placement (4.6). The first two are annotations, of the JobSet or of a Job template.
inline constexpr std::string_view kExclusiveTopology =
    "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kNodeSelectorStrategy = "alpha.jobset.sigs.k8s.io/node-selector";
inline constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
inline constexpr std::string_view kNoScheduleTaint = "alpha.jobset.sigs.k8s.io/no-schedule";

// On every Job: of what its template said when it was made or resumed (template_digest).
inline constexpr std::string_view kTemplateDigest = "muster.dev/template";

std::string job_name(const api::JobSet& set, std::string_view replicated_job, std::int32_t index);
// Tells the Jobs of all namespaces apart.
std::string job_key(std::string_view ns, std::string_view job_name);
std::string claim_name(std::string_view template_name, const api::JobSet& set);

bool has_hostnames(const api::JobSet& set);
// Of its pods; also the name of the headless Service.
std::string_view subdomain(const api::JobSet& set);
// Where the coordinator's pod can be reached. The set must have one.
std::string coordinator_endpoint(const api::JobSet& set);

}  // namespace muster::controllers::jobset
