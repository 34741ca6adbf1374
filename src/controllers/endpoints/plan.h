// Which EndpointSlices a Service with a selector has (spec: job 3.6).
#pragma once

#include <functional>
#include <vector>

#include "controllers/endpoints/views.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::endpoints {

struct Observed {
  const Service* service = nullptr;
  std::vector<const Pod*> pods;      // of its namespace and selector, in the order of their names
  std::vector<const Slice*> slices;  // its own, in the order of their names
  std::function<const Node*(const std::string& name)> node;  // null if unknown
};

// Pure: reads its arguments and nothing else.
Plan plan(const api::Resource& slices, const Observed& observed);

}  // namespace muster::controllers::endpoints
