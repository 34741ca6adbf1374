// The rows of all kinds that have one. Each is defined in the file of its kind.
#pragma once

#include "admission/kind.h"

namespace muster::admission {

// core
extern const Kind kConfigMap, kEndpoints, kEvent, kLimitRange, kNamespace, kNode, kPersistentVolume,
    kPersistentVolumeClaim, kPod, kPodTemplate, kResourceQuota, kSecret, kService;
// apps, batch, policy
extern const Kind kDeployment, kCronJob, kJob, kPodDisruptionBudget;
// the groups of *.k8s.io
extern const Kind kClusterRole, kClusterRoleBinding, kCustomResourceDefinition, kEndpointSlice,
    kEventsEvent, kLease, kMutatingWebhookConfiguration, kPodGroup, kPriorityClass, kRole,
    kRoleBinding, kValidatingWebhookConfiguration, kWorkload;
// custom resources
extern const Kind kJobSet;
extern const Kind kAdmissionCheck, kClusterQueue, kCohort, kKueueWorkload, kLocalQueue,
    kMultiKueueCluster, kMultiKueueConfig, kResourceFlavor, kTopology;

}  // namespace muster::admission
