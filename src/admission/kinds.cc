#include "admission/kinds.h"

#include <algorithm>
#include <array>

namespace muster::admission {
namespace {

constexpr auto kKinds = std::to_array<const Kind*>({
    &kConfigMap,
    &kNamespace,
    &kPod,
    &kSecret,
    &kJob,
    &kJobSet,
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
