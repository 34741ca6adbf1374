// What is in a namespace.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "api/schema/registry.h"

namespace muster::controllers::namespaces {

// The objects of one kind; there is at least one.
struct KindContent {
  const api::Resource* resource = nullptr;
  int objects = 0;
  int untouched = 0;                      // of them: not being deleted yet
  std::map<std::string, int> finalizers;  // how many objects each of them holds
};

struct Content {
  // Pods alone while there are any: nothing else is looked at before they are gone.
  std::vector<KindContent> kinds;
  std::chrono::seconds pod_grace{0};  // the longest of pods that have not ended
  std::vector<std::string> errors;    // kinds that could not be read

  bool is_empty() const { return kinds.empty() && errors.empty(); }
  bool has_pods() const {
    return !kinds.empty() && kinds.front().resource->plural == "pods" &&
           kinds.front().resource->gvk.group.empty();
  }
};

}  // namespace muster::controllers::namespaces
