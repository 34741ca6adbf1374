#include <algorithm>
#include <set>

#include "api/views/job_set_names.h"
#include "base/number.h"
#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

std::int32_t attempt_of(const api::Meta& meta) {
  return parse_number<std::int32_t>(label_of(meta, api::label::kRestartAttempt)).value_or(-1);
}

std::string replicated_job_of(const api::Job& job) {
  return label_of(job.meta, api::label::kReplicatedJobName);
}

// As the JobSet controller counts it: everything that will run has started, or has ended.
bool is_started(const api::Job& job) {
  const std::int32_t expected =
      job.completions ? std::min(job.parallelism, *job.completions) : job.parallelism;
  return job.is_finished() || job.succeeded + job.ready >= expected;
}

class StagesStartInOrder final : public Rule {
 public:
  void judge(const Change& change, const Present& present, Violations& violations) override {
    if (change.job == nullptr || change.is_deletion()) return;
    const api::JobSet* set = present.set_of(*change.job);
    if (set == nullptr) return;
    const bool was_running = change.job_before != nullptr && !change.job_before->suspend;
    if (!change.job->suspend && !was_running) check_turn(*set, *change.job, violations);
    learn_progress(*set, attempt_of(change.job->meta), present);
  }

 private:
  struct Stage {
    std::string uid;
    std::int32_t attempt;
    std::string replicated_job;
    auto operator<=>(const Stage&) const = default;
  };

  void check_turn(const api::JobSet& set, const api::Job& job, Violations& violations) const {
    const api::ReplicatedJob* own = set.replicated_job(replicated_job_of(job));
    if (own == nullptr) return;
    const std::int32_t attempt = attempt_of(job.meta);
    for (const api::Dependency& dependency : own->depends_on) {
      const bool complete = dependency.status == api::DependencyStatus::kComplete;
      const auto& reached = complete ? was_complete_ : was_ready_;
      if (!reached.contains({set.meta.uid, attempt, dependency.name})) {
        violations.push_back(fmt::format("job {} began before {} was {}", job.meta.name,
                                         dependency.name, complete ? "complete" : "ready"));
      }
    }
    if (!set.in_order) return;
    for (const api::ReplicatedJob& earlier : set.replicated_jobs) {
      if (earlier.name == own->name) break;
      if (!was_ready_.contains({set.meta.uid, attempt, earlier.name})) {
        violations.push_back(
            fmt::format("job {} began before {} had started", job.meta.name, earlier.name));
      }
    }
  }

  // What has ever held within an attempt: readiness that is lost later does not undo a start.
  void learn_progress(const api::JobSet& set, std::int32_t attempt, const Present& present) {
    for (const api::ReplicatedJob& replicated : set.replicated_jobs) {
      std::int32_t started = 0, complete = 0;
      for (const auto& [uid, job] : present.jobs) {
        const auto* owner = job.meta.controller();
        if (owner == nullptr || owner->uid != set.meta.uid ||
            replicated_job_of(job) != replicated.name || attempt_of(job.meta) != attempt)
          continue;
        started += is_started(job) ? 1 : 0;
        complete += job.is_complete() ? 1 : 0;
      }
      const Stage stage{set.meta.uid, attempt, replicated.name};
      if (started >= replicated.replicas) was_ready_.insert(stage);
      if (complete >= replicated.replicas) was_complete_.insert(stage);
    }
  }

  std::set<Stage> was_ready_, was_complete_;
};

}  // namespace

std::unique_ptr<Rule> make_stages_start_in_order() {
  return std::make_unique<StagesStartInOrder>();
}

}  // namespace muster::sim
