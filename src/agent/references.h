// Which objects a pod needs besides its own. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "agent/lifecycle/pod_view.h"
#include "json/value.h"

namespace muster::agent {

enum class ReferenceKind : std::uint8_t {
  kConfigMap,
  kSecret,
  kClaim,
  kHost,  // the name of another pod
};

struct Reference {
  ReferenceKind kind = ReferenceKind::kConfigMap;
  std::string ns;
  std::string name;
  auto operator<=>(const Reference&) const = default;
};

std::set<Reference> references_of(json::Value pod, const PodView& view);

// The volume with the token of the service account, which admission adds to every pod, is taken out
// unless the pod says that it wants it (automountServiceAccountToken: true) or has an account of
// its own: programs of this machine seldom ask the API, and each volume costs the start of each
// pod.
void drop_unwanted_token(json::Value pod);

// Volumes that only the container of the barrier mounts are taken out: it is never executed.
void drop_barrier_volumes(json::Value pod);

}  // namespace muster::agent
