#include "agent/pod_requests.h"

#include <fmt/format.h>

#include "api/views/pod_resources.h"

namespace muster::agent {

void add(Amounts& to, const Amounts& what) {
  for (const auto& [name, amount] : what) to[name] += amount;
}

Amounts requests_of(json::Value pod) {
  const api::ComputeResources asked = api::pod_requests(pod.get("spec"));
  Amounts out(asked.others.begin(), asked.others.end());
  if (asked.milli_cpu != 0) out["cpu"] = asked.milli_cpu;
  if (asked.memory != 0) out["memory"] = asked.memory;
  if (asked.ephemeral_storage != 0) out["ephemeral-storage"] = asked.ephemeral_storage;
  out["pods"] = asked.pods;
  return out;
}

std::optional<Verdict> refusal(const Amounts& requests, const Amounts& used,
                               const Amounts& capacity) {
  for (const auto& [name, amount] : requests) {
    const auto room = capacity.find(name);
    if (amount == 0 || room == capacity.end()) continue;
    const auto held = used.find(name);
    const std::int64_t taken = held == used.end() ? 0 : held->second;
    if (taken + amount <= room->second) continue;
    return Verdict{
        .reason = "OutOf" + name,
        .message = fmt::format(
            "Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}", name,
            amount, taken, room->second)};
  }
  return std::nullopt;
}

}  // namespace muster::agent
