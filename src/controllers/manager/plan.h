// Tools of the JobSet project look for its controller as the Deployment jobset-controller-manager
// in the namespace jobset-system, and wait until it is Available. Here the controller is part of
// the server, and this object stands for it.
#pragma once

#include "api/schema/registry.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::manager {

inline constexpr std::string_view kNamespace = "jobset-system";
inline constexpr std::string_view kDeployment = "jobset-controller-manager";

struct Kinds {
  const api::Resource& namespaces;
  const api::Resource& deployments;
};

// `deployment` is null if there is none. It is made first and Available in a pass of its own: that
// it could be made shows that admission answers.
Plan plan(const Kinds& kinds, json::Value deployment, Time now);

}  // namespace muster::controllers::manager
