#include "admission/kinds.h"

#include <algorithm>
#include <array>

namespace muster::admission {
namespace {

constexpr auto kKinds = std::to_array<const Kind*>({
    &kConfigMap,
    &kEndpoints,
    &kEvent,
    &kLimitRange,
    &kNamespace,
    &kNode,
    &kPersistentVolume,
    &kPersistentVolumeClaim,
    &kPod,
    &kPodTemplate,
    &kResourceQuota,
    &kSecret,
    &kService,
    &kDeployment,
    &kCronJob,
    &kJob,
    &kPodDisruptionBudget,
    &kClusterRole,
    &kClusterRoleBinding,
    &kCustomResourceDefinition,
    &kEndpointSlice,
    &kEventsEvent,
    &kLease,
    &kMutatingWebhookConfiguration,
    &kPodGroup,
    &kPriorityClass,
    &kRole,
    &kRoleBinding,
    &kValidatingWebhookConfiguration,
    &kWorkload,
    &kJobSet,
    &kAdmissionCheck,
    &kClusterQueue,
    &kCohort,
    &kKueueWorkload,
    &kLocalQueue,
    &kMultiKueueCluster,
    &kMultiKueueConfig,
    &kResourceFlavor,
    &kTopology,
});

}  // namespace

const Kind& kind_of(const api::Resource& resource) {
  static constexpr Kind kOrdinary;
  const auto found = std::ranges::find_if(kKinds, [&](const Kind* kind) {
    return kind->group == resource.gvk.group && kind->name == resource.gvk.kind;
  });
  return found == kKinds.end() ? kOrdinary : **found;
}

}  // namespace muster::admission
