// Names on the wire by which the controllers, admission, the agent, users, Kueue and tools know the
// objects of a JobSet (spec: jobset 4).
#pragma once

#include <string_view>

namespace muster::api {

// On every Job and every pod template, as label and as annotation.
namespace label {
inline constexpr std::string_view kJobSetPrefix = "jobset.sigs.k8s.io/";
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
// Of pods with exclusive placement, by admission.
inline constexpr std::string_view kPriority = "jobset.sigs.k8s.io/priority";
}  // namespace label

namespace annotation {
// Exclusive placement (4.6); of the JobSet or of a Job template.
inline constexpr std::string_view kExclusiveTopology =
    "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kNodeSelectorStrategy = "alpha.jobset.sigs.k8s.io/node-selector";

// Of a JobSet: "true", or the name of the replicated job whose pods are to be numbered.
inline constexpr std::string_view kRankEnvironment = "muster.dev/rank-env";
// Of a pod template: the rank of the Job's first index.
inline constexpr std::string_view kRankOffset = "muster.dev/rank-offset";
// Of a pod; admission writes it.
inline constexpr std::string_view kRank = "muster.dev/rank";

// Of a pod that waits: what the embedded node agent goes by instead of running a program.
inline constexpr std::string_view kBarrier = "muster.dev/barrier";           // <ConfigMap>/<key>
inline constexpr std::string_view kBarrierSize = "muster.dev/barrier-size";  // pods
inline constexpr std::string_view kBarrierTimeout = "muster.dev/barrier-timeout";  // seconds
}  // namespace annotation

// Keys of the barrier's ConfigMap, each followed by the number of the attempt: the signal, how many
// pods have started, and which have not.
inline constexpr std::string_view kBarrierStarted = "started-";
inline constexpr std::string_view kBarrierProgress = "progress-";
inline constexpr std::string_view kBarrierMissing = "missing-";
// A key of the barrier's ConfigMap: that of the signal, followed by this. It says that the
// coordinator has ended, so no pod needs to wait for its name.
inline constexpr std::string_view kCoordinatorEnded = "-coordinator-ended";

// The container that waits at the barrier, the last of a pod's init containers.
inline constexpr std::string_view kBarrierContainer = "group-scheduling-init";

// The condition that says what a JobSet waits for.
inline constexpr std::string_view kWaitingCondition = "muster.dev/Waiting";

}  // namespace muster::api
