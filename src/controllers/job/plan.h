// What a Job needs next. Pure: reads its arguments and nothing else.
#pragma once

#include <span>

#include "api/registry.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::job {

struct Kinds {
  const api::Resource* job;
  const api::Resource* pod;
};

struct View {
  json::Value job;
  std::span<const json::Value> pods;  // those whose controller it is
};

Plan plan(const Kinds& kinds, const View& view, Time now);

}  // namespace muster::controllers::job
