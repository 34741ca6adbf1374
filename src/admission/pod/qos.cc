#include "admission/pod/qos.h"

#include <map>

#include "admission/rules/edit.h"
#include "api/values/quantity.h"

namespace muster::admission {
namespace {

using Amounts = std::map<std::string_view, api::Quantity>;

// Adds what counts: cpu and memory, if more than nothing. Returns how many of the two the list has.
std::size_t add_amounts(Value list, Amounts& sum) {
  std::size_t counted = 0;
  for (const std::string_view resource : {"cpu", "memory"}) {
    const auto amount = api::Quantity::parse(text_of(list, resource));
    if (!amount || amount->is_zero() || amount->is_negative()) continue;
    sum[resource] += *amount;
    ++counted;
  }
  return counted;
}

struct Totals {
  Amounts requests;
  Amounts limits;
  bool all_limited = true;

  void add(Value resources) {
    add_amounts(resources.get("requests"), requests);
    if (add_amounts(resources.get("limits"), limits) < 2) all_limited = false;
  }
};

}  // namespace

std::string_view qos_class(Value pod_spec) {
  Totals totals;
  if (const Value pod_level = pod_spec.get("resources"); !pod_level.empty()) {
    totals.add(pod_level);
  } else {
    for (const std::string_view list : {"containers", "initContainers"})
      for (const Value container : pod_spec.get(list).items())
        totals.add(container.get("resources"));
  }
  if (totals.requests.empty() && totals.limits.empty()) return "BestEffort";
  if (totals.all_limited && totals.requests == totals.limits) return "Guaranteed";
  return "Burstable";
}

}  // namespace muster::admission
