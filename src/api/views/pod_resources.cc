#include "api/views/pod_resources.h"

#include <algorithm>

#include "api/values/quantity.h"

namespace muster::api {
namespace {

using json::Value;

using Named = std::pair<std::string, std::int64_t>;

std::int64_t& entry(std::vector<Named>& list, std::string_view name) {
  const auto at = std::ranges::lower_bound(list, name, {}, &Named::first);
  if (at != list.end() && at->first == name) return at->second;
  return list.emplace(at, std::string(name), 0)->second;
}

void read_amount(ComputeResources& out, std::string_view name, Value value) {
  const auto amount = Quantity::read(value);
  if (!amount) return;
  if (name == "cpu") {
    out.milli_cpu = amount->milli_value();
  } else if (name == "memory") {
    out.memory = amount->value();
  } else if (name == "ephemeral-storage") {
    out.ephemeral_storage = amount->value();
  } else if (name == "pods") {
    out.pods = amount->value();
  } else {
    entry(out.others, name) = amount->value();
  }
}

ComputeResources container_requests(Value container, const Unsaid& unsaid) {
  const Value list = container.get({"resources", "requests"});
  ComputeResources out = read_compute_resources(list);
  if (!list.has("cpu")) out.milli_cpu = unsaid.milli_cpu;
  if (!list.has("memory")) out.memory = unsaid.memory;
  return out;
}

ComputeResources containers_together(Value spec, const Unsaid& unsaid) {
  ComputeResources running, sidecars, hungriest;
  for (const Value container : spec.get("containers").items())
    running += container_requests(container, unsaid);
  for (const Value container : spec.get("initContainers").items()) {
    ComputeResources moment = container_requests(container, unsaid);
    const bool stays = container.get("restartPolicy").as_string() == "Always";
    if (stays) {
      running += moment;
      sidecars += moment;
      moment = sidecars;
    } else {
      moment += sidecars;
    }
    hungriest.raise_to(moment);
  }
  running.raise_to(hungriest);
  return running;
}

bool may_be_asked_by_pod(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

}  // namespace

std::int64_t ComputeResources::other(std::string_view name) const {
  const auto at = std::ranges::lower_bound(others, name, {}, &Named::first);
  return at != others.end() && at->first == name ? at->second : 0;
}

ComputeResources& ComputeResources::operator+=(const ComputeResources& more) {
  milli_cpu += more.milli_cpu;
  memory += more.memory;
  ephemeral_storage += more.ephemeral_storage;
  pods += more.pods;
  for (const auto& [name, amount] : more.others) entry(others, name) += amount;
  return *this;
}

ComputeResources& ComputeResources::operator-=(const ComputeResources& less) {
  milli_cpu -= less.milli_cpu;
  memory -= less.memory;
  ephemeral_storage -= less.ephemeral_storage;
  pods -= less.pods;
  for (const auto& [name, amount] : less.others) entry(others, name) -= amount;
  return *this;
}

void ComputeResources::raise_to(const ComputeResources& least) {
  milli_cpu = std::max(milli_cpu, least.milli_cpu);
  memory = std::max(memory, least.memory);
  ephemeral_storage = std::max(ephemeral_storage, least.ephemeral_storage);
  pods = std::max(pods, least.pods);
  for (const auto& [name, amount] : least.others) {
    std::int64_t& have = entry(others, name);
    have = std::max(have, amount);
  }
}

ComputeResources read_compute_resources(Value list) {
  ComputeResources out;
  for (const json::Member& member : list.members()) read_amount(out, member.key, member.value);
  return out;
}

ComputeResources pod_requests(Value spec, const Unsaid& unsaid) {
  ComputeResources out = containers_together(spec, unsaid);
  for (const json::Member& own : spec.get({"resources", "requests"}).members())
    if (may_be_asked_by_pod(own.key)) read_amount(out, own.key, own.value);
  out += read_compute_resources(spec.get("overhead"));
  out.pods = 1;
  return out;
}

}  // namespace muster::api
