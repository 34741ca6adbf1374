// The status of a Job, written by its controller (spec: job 1.7). Most rules look only if what they
// are about has changed: a status that was wrong before may be written on.
#include <optional>
#include <set>

#include "admission/job/job_validation.h"
#include "admission/rules/checks.h"
#include "api/values/interval_set.h"
#include "base/time.h"

namespace muster::admission {
namespace {

Path status_path() { return Path("status"); }

class StatusCheck {
 public:
  StatusCheck(Value job, Value old, FieldErrors& errors)
      : job_(job),
        old_(old),
        status_(job.get("status")),
        before_(old.get("status")),
        errors_(errors) {
    complete_ = condition_true(job, "Complete");
    failed_ = condition_true(job, "Failed");
    finished_ = complete_ || failed_;
    complete_changed_ = complete_ != condition_true(old, "Complete");
    failed_changed_ = failed_ != condition_true(old, "Failed");
    finished_changed_ =
        finished_ != (condition_true(old, "Complete") || condition_true(old, "Failed"));
  }

  void run() {
    counters();
    uncounted_pods();
    exclusive_conditions();
    completion_time();
    preceding_conditions();
    finished_job();
    indexes();
    criteria();
    transitions();
  }

 private:
  bool has(std::string_view condition) const { return condition_true(job_, condition); }
  bool had(std::string_view condition) const { return condition_true(old_, condition); }
  bool changed(std::string_view key) const {
    return !json::equal(status_.get(key), before_.get(key));
  }
  bool condition_changed(std::string_view type) const { return has(type) != had(type); }

  // Upstream prints no value for conditions.
  void condition_fault(std::string_view detail) {
    errors_.add("FieldValueInvalid", status_path().child("conditions"),
                "Invalid value: " + std::string(detail));
  }
  void fault(std::string_view key, std::string_view detail) {
    const bool number = before_.get(key).is_number() || status_.get(key).is_number();
    const Value value = status_.get(key).is_null() && number ? Value::of(0) : status_.get(key);
    errors_.invalid(status_path().child(key), value, detail);
  }

  void counters() {
    for (const std::string_view key : {"active", "succeeded", "failed", "ready", "terminating"})
      validate_not_negative(status_, key, status_path(), errors_);
  }

  void uncounted_pods() {
    const Path path = status_path().child("uncountedTerminatedPods");
    std::set<std::string_view> seen;
    for (const std::string_view list : {"succeeded", "failed"}) {
      const Value uids = status_.get({"uncountedTerminatedPods", list});
      for (std::size_t i = 0; i < uids.size(); ++i) {
        const std::string_view uid = uids.item(i).as_string();
        if (uid.empty())
          errors_.invalid(path.child(list).index(i), uid, "must not be empty");
        else if (!seen.insert(uid).second)
          errors_.duplicate(path.child(list).index(i), uid);
      }
    }
  }

  void exclusive_conditions() {
    if ((complete_changed_ || failed_changed_) && complete_ && failed_)
      condition_fault("cannot set Complete=True and Failed=true conditions");
    if ((complete_changed_ || condition_changed("FailureTarget")) && complete_ &&
        has("FailureTarget"))
      condition_fault("cannot set Complete=True and FailureTarget=true conditions");
  }

  void completion_time() {
    const auto completion = parse_time(text_of(status_, "completionTime"));
    const auto start = parse_time(text_of(status_, "startTime"));
    if ((complete_changed_ || changed("completionTime")) && completion && !complete_)
      fault("completionTime", "cannot set completionTime when there is no Complete=True condition");
    if ((complete_changed_ || changed("completionTime")) && complete_ && !completion)
      errors_.required(status_path().child("completionTime"),
                       "completionTime is required for Complete jobs");
    if ((changed("completionTime") || changed("startTime")) && completion && start &&
        *completion < *start)
      fault("completionTime", "must be equal to or after `startTime`");
  }

  void preceding_conditions() {
    if ((failed_changed_ || changed("failedIndexes")) && failed_ && !has("FailureTarget"))
      condition_fault("cannot set Failed=True condition without the FailureTarget=true condition");
    if (complete_changed_ && complete_ && !has("SuccessCriteriaMet"))
      condition_fault(
          "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }

  // A Job that never ran because it was suspended with nothing to do has no start.
  bool may_lack_start() const {
    const Value spec = job_.get("spec");
    return spec.get("suspend").as_bool() && has_value(spec, "completions") &&
           int_of(spec, "completions") == 0;
  }

  void finished_job() {
    if (!finished_) return;
    if ((finished_changed_ || changed("active")) && int_of(status_, "active") > 0)
      fault("active", "active>0 is invalid for finished job");
    if ((finished_changed_ || changed("startTime")) && !has_value(status_, "startTime") &&
        !may_lack_start())
      errors_.required(status_path().child("startTime"), "startTime is required for finished job");
    const Value uncounted = status_.get("uncountedTerminatedPods");
    if ((finished_changed_ || changed("uncountedTerminatedPods")) &&
        !(uncounted.get("succeeded").empty() && uncounted.get("failed").empty()))
      fault("uncountedTerminatedPods", "must be empty for finished job");
  }

  std::optional<api::IntervalSet> parsed_indexes(std::string_view key, bool judged) {
    const auto parsed = api::IntervalSet::parse_strictly(text_of(status_, key),
                                                         int_of(job_.get("spec"), "completions"));
    if (parsed) return *parsed;
    if (judged && changed(key))
      fault(key, "error parsing " + std::string(key) + ": " + parsed.error());
    return {};
  }

  void indexes() {
    const bool indexed = is_indexed(job_.get("spec"));
    const bool per_index = has_value(job_.get("spec"), "backoffLimitPerIndex");
    const auto completed = parsed_indexes("completedIndexes", indexed);
    const auto failed = parsed_indexes("failedIndexes", per_index);
    if (changed("completedIndexes") && !text_of(status_, "completedIndexes").empty() && !indexed)
      fault("completedIndexes",
            "cannot set non-empty completedIndexes when non-indexed completion mode");
    if (changed("failedIndexes") && has_value(status_, "failedIndexes") && !per_index)
      fault("failedIndexes", "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    const auto common = completed && failed ? completed->first_common(*failed) : std::nullopt;
    if (common && (changed("completedIndexes") || changed("failedIndexes")))
      fault("failedIndexes",
            "failedIndexes and completedIndexes overlap at index: " + std::to_string(*common));
    if (finished_ && (finished_changed_ || changed("terminating")) &&
        int_of(status_, "terminating") > 0)
      fault("terminating", "terminating>0 is invalid for finished job");
    if ((changed("ready") || changed("active")) &&
        int_of(status_, "ready") > int_of(status_, "active"))
      fault("ready", "cannot set more ready pods than active");
  }

  void criteria() {
    const bool met = has("SuccessCriteriaMet");
    if (met && failed_)
      condition_fault("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    if (met && has("FailureTarget"))
      condition_fault("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    if (has_value(job_.get("spec"), "successPolicy") && complete_ && !met && complete_changed_)
      condition_fault(
          "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }

  bool elastic() const {
    const Value spec = job_.get("spec");
    return is_indexed(spec) && has_value(spec, "completions") &&
           json::equal(spec.get("completions"), spec.get("parallelism"));
  }

  void transitions() {
    for (const std::string_view type : {"Failed", "Complete", "FailureTarget"})
      if (had(type) && !has(type))
        condition_fault("cannot disable the terminal " + std::string(type) + "=True condition");
    if (had("SuccessCriteriaMet") && !has("SuccessCriteriaMet"))
      condition_fault("cannot disable the SuccessCriteriaMet=True condition");
    if (int_of(status_, "failed") < int_of(before_, "failed"))
      fault("failed", "cannot decrease the failed counter");
    if (int_of(status_, "succeeded") < int_of(before_, "succeeded") && !elastic())
      fault("succeeded", "cannot decrease the succeeded counter");
    if (has_value(before_, "completionTime") && changed("completionTime"))
      fault("completionTime", kImmutable);
    const bool resumes = had("Suspended") && !has("Suspended");
    if (has_value(before_, "startTime") && changed("startTime") && !resumes &&
        !job_.get({"spec", "suspend"}).as_bool())
      fault("startTime", "field is immutable for unsuspended job once set");
    if (has("SuccessCriteriaMet") && !had("SuccessCriteriaMet") && had("Complete"))
      condition_fault(
          "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }

  Value job_, old_, status_, before_;
  FieldErrors& errors_;
  bool complete_ = false, failed_ = false, finished_ = false;
  bool complete_changed_ = false, failed_changed_ = false, finished_changed_ = false;
};

}  // namespace

void validate_job_status_update(Value job, Value old, FieldErrors& errors) {
  StatusCheck(job, old, errors).run();
}

}  // namespace muster::admission
