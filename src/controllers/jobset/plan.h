// What a JobSet needs next. Pure: reads its arguments and nothing else.
#pragma once

#include <span>
#include <string_view>

#include "api/registry.h"
#include "controllers/runtime/plan.h"
#include "json/value.h"

namespace muster::controllers::jobset {

// The kinds that it writes.
struct Kinds {
  const api::Resource* job_set;
  const api::Resource* job;
  const api::Resource* service;
};

struct View {
  json::Value job_set;
  std::span<const json::Value> jobs;  // those whose controller it is, in the order of their names
  bool has_service = false;           // a Service of the subdomain's name exists
};

Plan plan(const Kinds& kinds, const View& view, Time now);

}  // namespace muster::controllers::jobset
