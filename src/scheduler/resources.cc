#include "scheduler/resources.h"

#include <algorithm>

#include "api/quantity.h"

namespace muster::scheduler {
namespace {

using json::Value;

using Named = std::pair<std::string, std::int64_t>;

// kube-scheduler's guess for a container that does not say what it needs.
constexpr std::int64_t kLikelyMilliCpu = 100;
constexpr std::int64_t kLikelyMemory = std::int64_t{200} << 20;

std::int64_t& entry(std::vector<Named>& list, std::string_view name) {
  const auto at = std::ranges::lower_bound(list, name, {}, &Named::first);
  if (at != list.end() && at->first == name) return at->second;
  return list.emplace(at, std::string(name), 0)->second;
}

void read_amount(Resources& out, std::string_view name, Value value) {
  const auto amount = api::Quantity::parse(value.as_string());
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

Resources container_requests(Value container, bool guess) {
  const Value list = container.get({"resources", "requests"});
  Resources out = read_resources(list);
  if (guess && !list.has("cpu")) out.milli_cpu = kLikelyMilliCpu;
  if (guess && !list.has("memory")) out.memory = kLikelyMemory;
  return out;
}

Resources containers_together(Value spec, bool guess) {
  Resources running, sidecars, hungriest;
  for (const Value container : spec.get("containers").items())
    running += container_requests(container, guess);
  for (const Value container : spec.get("initContainers").items()) {
    Resources moment = container_requests(container, guess);
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

Resources pod_requests(Value spec, bool guess) {
  Resources out = containers_together(spec, guess);
  for (const json::Member& own : spec.get({"resources", "requests"}).members())
    if (may_be_asked_by_pod(own.key)) read_amount(out, own.key, own.value);
  out += read_resources(spec.get("overhead"));
  out.pods = 1;
  return out;
}

}  // namespace

std::int64_t Resources::other(std::string_view name) const {
  const auto at = std::ranges::lower_bound(others, name, {}, &Named::first);
  return at != others.end() && at->first == name ? at->second : 0;
}

Resources& Resources::operator+=(const Resources& more) {
  milli_cpu += more.milli_cpu;
  memory += more.memory;
  ephemeral_storage += more.ephemeral_storage;
  pods += more.pods;
  for (const auto& [name, amount] : more.others) entry(others, name) += amount;
  return *this;
}

Resources& Resources::operator-=(const Resources& less) {
  milli_cpu -= less.milli_cpu;
  memory -= less.memory;
  ephemeral_storage -= less.ephemeral_storage;
  pods -= less.pods;
  for (const auto& [name, amount] : less.others) entry(others, name) -= amount;
  return *this;
}

void Resources::raise_to(const Resources& least) {
  milli_cpu = std::max(milli_cpu, least.milli_cpu);
  memory = std::max(memory, least.memory);
  ephemeral_storage = std::max(ephemeral_storage, least.ephemeral_storage);
  pods = std::max(pods, least.pods);
  for (const auto& [name, amount] : least.others) {
    std::int64_t& have = entry(others, name);
    have = std::max(have, amount);
  }
}

Resources read_resources(Value list) {
  Resources out;
  for (const json::Member& member : list.members()) read_amount(out, member.key, member.value);
  return out;
}

Demand read_demand(Value pod_spec) {
  const Resources likely = pod_requests(pod_spec, true);
  return {.requests = pod_requests(pod_spec, false),
          .likely_milli_cpu = likely.milli_cpu,
          .likely_memory = likely.memory};
}

Shortage shortage(const Resources& requests, const Resources& allocatable, const Resources& used) {
  Shortage out;
  const auto compare = [&](std::int64_t asked, std::int64_t all, std::int64_t taken,
                           std::string_view name) {
    if (asked == 0 || asked <= all - taken) return;
    out.reasons.push_back("Insufficient " + std::string(name));
    out.for_ever = out.for_ever || asked > all;
  };
  // Room for one pod more may come with every pod that goes, also where there is none at all.
  if (used.pods + 1 > allocatable.pods) out.reasons.emplace_back("Too many pods");
  compare(requests.milli_cpu, allocatable.milli_cpu, used.milli_cpu, "cpu");
  compare(requests.memory, allocatable.memory, used.memory, "memory");
  compare(requests.ephemeral_storage, allocatable.ephemeral_storage, used.ephemeral_storage,
          "ephemeral-storage");
  for (const auto& [name, asked] : requests.others)
    compare(asked, allocatable.other(name), used.other(name), name);
  return out;
}

bool fits(const Resources& requests, const Resources& allocatable, const Resources& used) {
  const auto enough = [](std::int64_t asked, std::int64_t all, std::int64_t taken) {
    return asked == 0 || asked <= all - taken;
  };
  return used.pods < allocatable.pods &&
         enough(requests.milli_cpu, allocatable.milli_cpu, used.milli_cpu) &&
         enough(requests.memory, allocatable.memory, used.memory) &&
         enough(requests.ephemeral_storage, allocatable.ephemeral_storage,
                used.ephemeral_storage) &&
         std::ranges::all_of(
             requests.others,
             [&](const Named& asked) {
               return enough(asked.second, allocatable.other(asked.first), used.other(asked.first));
             });
}

}  // namespace muster::scheduler
