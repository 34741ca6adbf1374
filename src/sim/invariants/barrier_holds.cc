#include <algorithm>
#include <set>

#include "api/views/job_names.h"
#include "api/views/job_set_names.h"
#include "controllers/jobset/barrier.h"
#include "json/parse.h"
#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

using api::annotation::kBarrier;

// Of the set's Jobs those that still have something to do in this attempt: the others have ended in
// an earlier one, before the set was suspended.
std::int64_t expected_at_barrier(const api::JobSet& set, std::string_view barrier,
                                 const Present& present) {
  const auto& targets = set.group_scheduling->target_replicated_jobs;
  std::int64_t expected = 0;
  for (const api::ReplicatedJob& entry : set.replicated_jobs) {
    if (targets.empty() || std::ranges::find(targets, entry.name) != targets.end())
      expected += entry.pods();
  }
  for (const auto& [uid, job] : present.jobs) {
    const auto* owner = job.meta.controller();
    if (owner == nullptr || owner->uid != set.meta.uid || !job.is_complete()) continue;
    json::Arena arena;
    const auto held =
        json::parse(arena, job.template_json)->get({"metadata", "annotations", kBarrier});
    if (held.is_string() && held.as_string() != barrier) {
      expected -=
          set.replicated_job(label_of(job.meta, api::label::kReplicatedJobName))->pods_per_job();
    }
  }
  return expected;
}

class BarrierHolds final : public Rule {
 public:
  void judge(const Change& change, const Present& present, Violations& violations) override {
    if (change.pod == nullptr || change.is_deletion()) return;
    const api::Pod& pod = *change.pod;
    const auto* owner = pod.meta.controller();
    const auto index = pod.meta.label(api::kCompletionIndex);
    const auto signal = pod.meta.annotation(kBarrier);
    const auto set = present.sets.find(label_of(pod.meta, api::label::kJobSetUid));
    if (owner == nullptr || !index || !signal || set == present.sets.end()) return;
    const bool runs = pod.phase == api::PodPhase::kRunning;
    const bool waits = std::ranges::any_of(pod.init_container_statuses,
                                           [](const auto& each) { return each.running; });
    if (!runs && !waits) return;
    auto& reached = reached_[{set->first, std::string(*signal)}];
    reached.insert({owner->name, std::string(*index)});
    const std::int64_t expected = expected_at_barrier(set->second, *signal, present);
    if (runs && std::int64_t(reached.size()) < expected) {
      violations.push_back(
          change.broken(fmt::format("has passed the barrier {} when {} of {} pods had started",
                                    *signal, reached.size(), expected)));
    }
  }

 private:
  using SetAndSignal = std::pair<std::string, std::string>;  // uid; ConfigMap and attempt's key
  using JobAndIndex = std::pair<std::string, std::string>;
  std::map<SetAndSignal, std::set<JobAndIndex>> reached_;  // those that ever got there
};

}  // namespace

std::unique_ptr<Rule> make_barrier_holds() { return std::make_unique<BarrierHolds>(); }

}  // namespace muster::sim
