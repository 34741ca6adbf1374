#include "scheduler/resources.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

// kube-scheduler's guess for a container that does not say what it needs.
constexpr api::Unsaid kLikely{.milli_cpu = 100, .memory = std::int64_t{200} << 20};

}  // namespace

Demand read_demand(json::Value pod_spec) {
  const Resources likely = api::pod_requests(pod_spec, kLikely);
  return {.requests = api::pod_requests(pod_spec),
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
             [&](const auto& asked) {
               return enough(asked.second, allocatable.other(asked.first), used.other(asked.first));
             });
}

}  // namespace muster::scheduler
