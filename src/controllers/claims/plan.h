// A volume claim that is deleted stays while a pod uses it. The finalizer that holds it is put
// there when it is created; it goes when no pod is left that has not ended. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/schema/registry.h"
#include "controllers/runtime/plan.h"
#include "store/store.h"

namespace muster::controllers::claims {

inline constexpr std::string_view kProtection = "kubernetes.io/pvc-protection";

struct Claim {
  ObjectRef ref;
  std::vector<std::string> finalizers;
  bool deleting = false;

  bool waits() const;  // for the end of its pods
};

// What is read of a pod.
struct User {
  std::string ns;
  std::string uid;
  std::set<std::string> claims;  // by name, in its own namespace; of a pod that has ended none
};

Claim read_claim(const store::Object& claim, json::Value content);
User read_user(const store::Object& pod, json::Value content);

Plan plan(const api::Resource& claims, const Claim& claim, bool in_use);

}  // namespace muster::controllers::claims
