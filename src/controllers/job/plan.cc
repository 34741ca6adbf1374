#include "controllers/job/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/job_set_names.h"
#include "controllers/job/accounting.h"
#include "controllers/job/birth_names.h"
#include "controllers/job/census.h"
#include "controllers/job/claim.h"
#include "controllers/job/finish_decision.h"
#include "controllers/job/manage_pods.h"
#include "controllers/job/pod_failure_policy.h"
#include "controllers/job/status_draft.h"
#include "controllers/runtime/writes.h"

namespace muster::controllers::job {
namespace {

// The reason of the condition muster.dev/Waiting, and of the event.
constexpr std::string_view kPodLimit = "PodLimit";

struct Counts {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
};

// What is done with pods, and how things stand when that has been done.
struct Course {
  std::vector<Step> steps;
  Counts counts;
  std::optional<Finish> finish;
  bool managed = false;  // as a Job that goes on
};

void append(std::vector<Step>& steps, std::vector<Step> more) {
  for (Step& step : more) {
    if (!step.writes.empty()) steps.push_back(std::move(step));
  }
}

// The pods that match but belong to nobody join, those that do not match leave.
Plan settle_claims(const Kinds& kinds, const Job& job, const Claim& claims) {
  Plan plan;
  plan.reason = "pods join or leave the Job";
  // A Job that is being deleted, or was deleted and made anew, adopts nothing. A patch that changes
  // nothing succeeds only on the very version that this plan has seen.
  if (!claims.adopted.empty()) {
    json::Arena arena;
    plan.then({.operation = patch(*kinds.job, job.ref, json::Value::object(arena))});
  }
  Step& step = plan.steps.emplace_back();
  for (const Pod* pod : claims.released) step.writes.push_back(release(kinds, job, *pod));
  for (const Pod* pod : claims.adopted) step.writes.push_back(adopt(kinds, job, *pod));
  return plan;
}

class Planner {
 public:
  Planner(const Kinds& kinds, const View& view, std::vector<const Pod*> pods)
      : kinds_(kinds),
        job_(view.job),
        uncontrolled_(view.uncontrolled),
        births_(view.births),
        goes_with_owner_(view.goes_with_owner),
        failures_(view.failures),
        now_(view.now),
        census_(count(job_, std::move(pods))) {
    out_.backoff = updated(view.backoff, census_.new_succeeded, census_.new_failed);
    start_time_ = job_.start_time;
    if (!start_time_ && !job_.suspend) start_time_ = now_;
  }

  Outcome plan() {
    Course course = choose_course();
    if (const auto left = until_deadline(job_, start_time_, now_); left && !course.finish)
      look_again(*left);
    // Success is announced before what still runs is stopped: pods that go after it are not counted
    // as failed, whoever looks next.
    const bool announces = course.finish && course.finish->success && !course.finish->announced;
    if (announces) {
      settle(course);
    } else if (failures_ > 0 && !course.steps.empty()) {
      tell_the_truth(course);
    }
    const bool told = out_.plan.has_writes();
    append(out_.plan.steps, std::exchange(course.steps, {}));
    if (!told) settle(course);
    return std::move(out_);
  }

 private:
  Counts observed() const {
    return {static_cast<std::int64_t>(census_.active.size()), census_.ready, census_.terminating};
  }

  Course choose_course() {
    Course course{.counts = observed(), .finish = decide_finish(job_, census_, start_time_, now_)};
    if (course.finish) {
      stop(census_.active, course);
      return course;
    }
    course.managed = !job_.deleting;
    if (course.managed) manage(course);
    course.finish = decide_completion(job_, census_, course.counts.active);
    return course;
  }

  void stop(std::span<const Pod* const> pods, Course& course) {
    if (pods.empty()) return;
    append(course.steps, {delete_pods(kinds_, job_, pods)});
    const auto gone = static_cast<std::int64_t>(pods.size());
    course.counts.active -= gone;
    course.counts.terminating += gone;
    course.counts.ready -= std::ranges::count_if(pods, &Pod::ready);
    out_.tally.pods_deleted += static_cast<int>(gone);
    because(fmt::format("{} pods are stopped", gone));
  }

  void manage(Course& course) {
    PodWork work = manage_pods(job_, census_, out_.backoff, births_, now_);
    if (goes_with_owner_) {
      work.born.clear();
      work.held_back = false;
    }
    out_.held_back = work.held_back;
    name_births(job_, census_, {uncontrolled_, failures_}, work.born);
    // They go because nobody wants them, not because they failed: nothing is to be counted.
    std::vector<const Pod*> tracked;
    std::ranges::copy_if(work.removed, std::back_inserter(tracked), &Pod::tracked);
    append(course.steps, {let_go(kinds_, tracked)});
    stop(work.removed, course);
    append(course.steps, create_pods(kinds_, job_, work.born));
    course.counts.active += static_cast<std::int64_t>(work.born.size());
    out_.tally.pods_created = static_cast<int>(work.born.size());
    out_.tally.replacing =
        census_.terminating > 0 ||
        std::ranges::any_of(census_.pods, [&](auto* pod) { return is_failed(job_, *pod); });
    if (!work.born.empty()) because(fmt::format("{} pods are missing", work.born.size()));
    if (work.wait) look_again(*work.wait);
  }

  // The pass before failed half-way. What is true without any further success is stored first: no
  // pod counts that is not there, and no Job ends before its pods are stopped.
  void tell_the_truth(const Course& course) {
    const bool known = course.finish && course.finish->announced;
    settle({.counts = observed(),
            .finish = known ? course.finish : std::nullopt,
            .managed = course.managed});
  }

  // The status, and what it allows to be done after it is stored.
  void settle(const Course& course) {
    const auto& [steps, counts, finish, managed] = course;
    const Accounts accounts = account(job_, census_, finish);
    StatusDraft draft(job_);
    draft.set_count("succeeded", accounts.succeeded);
    draft.set_count("failed", accounts.failed);
    draft.set_uncounted(accounts.still_uncounted_succeeded, accounts.still_uncounted_failed);
    draft.mark();
    note(draft, accounts);
    draft.set_count("active", counts.active);
    draft.set_number("ready", counts.ready);
    draft.set_number("terminating", counts.terminating);
    draft.set_time("startTime", start_time_);
    tell_if_held_back(draft);
    if (finish && !finish->announced) {
      draft.add_condition(finish->interim(), finish->reason, finish->message, now_);
      because(finish->message);
    } else if (!finish && managed) {
      suspend_or_resume(draft);
    }
    const bool at_rest = !draft.changed_since_mark() && accounts.let_go.empty();
    if (finish && at_rest && counts.active == 0 && counts.terminating == 0)
      end(draft, *finish, accounts);
    write(draft);
    append(out_.plan.steps, {let_go(kinds_, accounts.let_go)});
  }

  void note(StatusDraft& draft, const Accounts& accounts) {
    draft.set_uncounted(accounts.uncounted_succeeded, accounts.uncounted_failed);
    Tally& tally = out_.tally;
    tally.judged = accounts.judged;
    tally.pods_failed = static_cast<int>(accounts.failed - job_.failed);
    tally.pods_succeeded = static_cast<int>(accounts.succeeded - job_.succeeded);
    if (!job_.is_indexed()) return;
    draft.set_count("succeeded", accounts.completed.size());
    draft.set_text("completedIndexes", accounts.completed.text());
    tally.indexes_succeeded =
        static_cast<int>(accounts.completed.size() - census_.completed.size());
    tally.pods_succeeded = tally.indexes_succeeded;
    if (!census_.failed_indexes) return;
    draft.set_always("failedIndexes", census_.failed_indexes->text());
    tally.indexes_failed = static_cast<int>(
        census_.failed_indexes->size() -
        api::IntervalSet::parse(job_.failed_indexes, job_.completions.value_or(0)).size());
  }

  void suspend_or_resume(StatusDraft& draft) {
    const bool changed = draft.ensure_condition(
        "Suspended", job_.suspend, job_.suspend ? "JobSuspended" : "JobResumed",
        job_.suspend ? "Job suspended" : "Job resumed", now_);
    if (!changed) return;
    draft.set_time("startTime", job_.suspend ? std::nullopt : std::optional(now_));
    job_.suspend ? tell("Suspended", "Job suspended") : tell("Resumed", "Job resumed");
    because(job_.suspend ? "the Job is suspended" : "the Job is resumed");
  }

  // Without numbers that change all the time: each change would be a write. A JobSet tells its own
  // users; those of a Job that belongs to none have an event.
  void tell_if_held_back(StatusDraft& draft) {
    if (goes_with_owner_) return;
    const bool of_set = !job_.pods_set.empty();
    const std::string message =
        out_.held_back
            ? fmt::format(
                  "it has more pods than are created ahead of those that have a node: at "
                  "most {} {} wait for one",
                  births_.limit,
                  births_.of_all ? "of all Jobs" : (of_set ? "of a JobSet" : "of a Job"))
            : "no pod is held back";
    const bool changed =
        draft.ensure_condition(api::kWaitingCondition, out_.held_back, kPodLimit, message, now_);
    if (!changed || !out_.held_back) return;
    because(message);
    if (!of_set) tell(std::string(kPodLimit), message);
  }

  // Only when every pod is counted and gone.
  void end(StatusDraft& draft, const Finish& finish, const Accounts& accounts) {
    if (!accounts.uncounted_succeeded.empty() || !accounts.uncounted_failed.empty()) return;
    draft.add_condition(finish.terminal(), finish.reason, finish.message, now_);
    out_.tally.finished_as = finish.terminal();
    out_.tally.finish_reason = finish.reason;
    because(finish.message);
    if (!finish.success) return warn(finish.reason, finish.message);
    draft.set_time("completionTime", now_);
    if (job_.completions && census_.succeeded > *job_.completions)
      warn("TooManySucceededPods",
           "Too many succeeded pods running after completion count reached");
    tell("Completed", "Job completed");
  }

  void write(const StatusDraft& draft) {
    auto operation = draft.operation(*kinds_.job);
    if (!operation) return;
    out_.plan.then({.operation = *std::move(operation)});
    because("the pods' states changed");
  }

  void tell(std::string reason, std::string message) {
    out_.plan.events.push_back(
        {.regarding = job_.ref, .reason = std::move(reason), .message = std::move(message)});
  }
  void warn(std::string reason, std::string message) {
    tell(std::move(reason), std::move(message));
    out_.plan.events.back().warning = true;
  }
  void because(std::string reason) {
    if (out_.plan.reason.empty()) out_.plan.reason = std::move(reason);
  }
  void look_again(Duration after) {
    out_.plan.look_again = std::min(out_.plan.look_again.value_or(after), after);
  }

  const Kinds& kinds_;
  const Job& job_;
  std::span<const Pod* const> uncontrolled_;
  CreationRoom births_;
  bool goes_with_owner_;
  int failures_;
  Time now_;
  Census census_;
  std::optional<Time> start_time_;
  Outcome out_;
};

}  // namespace

Outcome plan(const Kinds& kinds, const View& view) {
  const Job& job = view.job;
  Outcome out;
  if (job.is_managed_elsewhere() || job.is_finished()) return out;
  if (job.mode == Job::Mode::kUnknown) {
    out.plan.events.push_back({.regarding = job.ref,
                               .warning = true,
                               .reason = "UnknownCompletionMode",
                               .message = "Skipped Job sync because completion mode is unknown"});
    return out;
  }
  Claim claims = claim(job, view.controlled, view.uncontrolled);
  if (claims.adopted.empty() && claims.released.empty())
    return Planner(kinds, view, std::move(claims.pods)).plan();
  out.backoff = view.backoff;
  out.plan = settle_claims(kinds, job, claims);
  return out;
}

}  // namespace muster::controllers::job
