#include "agent/pod_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/quantity.h"

namespace muster::agent {
namespace {

using json::Value;

Amounts read(Value requests) {
  Amounts out;
  for (const auto& [name, text] : requests.members()) {
    const auto amount = text.is_string() ? api::Quantity::parse(text.as_string())
                                         : api::Quantity::of(text.as_int());
    if (amount) out[std::string(name)] = name == "cpu" ? amount->milli_value() : amount->value();
  }
  return out;
}

void raise(Amounts& to, const Amounts& least) {
  for (const auto& [name, amount] : least) to[name] = std::max(to[name], amount);
}

}  // namespace

void add(Amounts& to, const Amounts& what) {
  for (const auto& [name, amount] : what) to[name] += amount;
}

Amounts requests_of(Value pod) {
  Amounts sidecars, worst;
  for (const Value container : pod.get({"spec", "initContainers"}).items()) {
    const Amounts own = read(container.get({"resources", "requests"}));
    if (container.get("restartPolicy").as_string() == "Always") {
      add(sidecars, own);
      raise(worst, sidecars);
    } else {
      Amounts beside = sidecars;
      add(beside, own);
      raise(worst, beside);
    }
  }
  Amounts main = sidecars;
  for (const Value container : pod.get({"spec", "containers"}).items())
    add(main, read(container.get({"resources", "requests"})));
  raise(worst, main);
  // The pod's own word replaces the sum of its containers.
  for (const auto& [name, amount] : read(pod.get({"spec", "resources", "requests"})))
    worst[name] = amount;
  add(worst, read(pod.get({"spec", "overhead"})));
  worst["pods"] = 1;
  return worst;
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
