#include "controllers/job/accounting.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "controllers/job/names.h"
#include "controllers/job/pod_failure_policy.h"

namespace muster::controllers::job {
namespace {

using Uids = std::set<std::string_view>;

class Accountant {
 public:
  Accountant(const Job& job, const Census& census, const std::optional<Finish>& finish)
      : job_(job), census_(census), finish_(finish) {}

  Accounts account() {
    count_released();
    out_.uncounted_succeeded = out_.still_uncounted_succeeded;
    out_.uncounted_failed = out_.still_uncounted_failed;
    noted_failed_ = {out_.still_uncounted_failed.begin(), out_.still_uncounted_failed.end()};
    noted_succeeded_ = {out_.still_uncounted_succeeded.begin(),
                        out_.still_uncounted_succeeded.end()};
    for (const Pod* pod : census_.pods) {
      if (!pod->tracked || !may_go(*pod)) continue;
      out_.let_go.push_back(pod);
      note(*pod);
      out_.full =
          new_indexes_.size() + out_.uncounted_succeeded.size() + out_.uncounted_failed.size() >=
          kMaxUncounted;
      if (out_.full) break;
    }
    if (job_.is_indexed()) {
      out_.completed = census_.completed.joined_with(
          api::IntervalSet::of({new_indexes_.begin(), new_indexes_.end()}));
    }
    return std::move(out_);
  }

 private:
  void count_released() {
    Uids tracked;
    for (const Pod* pod : census_.pods) {
      if (pod->tracked) tracked.insert(pod->ref.uid);
    }
    const auto move = [&](const std::vector<std::string>& uids, std::int64_t& counter,
                          std::vector<std::string>& still) {
      for (const std::string& uid : uids) {
        tracked.contains(uid) ? still.push_back(uid) : void(++counter);
      }
    };
    out_.succeeded = job_.succeeded;
    out_.failed = job_.failed;
    move(job_.uncounted_succeeded, out_.succeeded, out_.still_uncounted_succeeded);
    move(job_.uncounted_failed, out_.failed, out_.still_uncounted_failed);
  }

  bool may_go(const Pod& pod) const {
    if (job_.deleting || finish_ || pod.phase == api::PodPhase::kSucceeded) return true;
    if (!is_failed(job_, pod)) return false;
    const auto held = census_.held_back.find(pod.index);
    return held == census_.held_back.end() || held->second != &pod;
  }

  void note(const Pod& pod) {
    // One that was noted as failed stays so, whatever it says later.
    if (pod.phase == api::PodPhase::kSucceeded && !noted_failed_.contains(pod.ref.uid)) {
      note_success(pod);
    } else if (is_failed(job_, pod) || (finish_ && !finish_->success)) {
      note_failure(pod);
    }
  }

  void note_success(const Pod& pod) {
    if (job_.is_indexed()) {
      // The index is enough to count it once.
      if (job_.has_index(pod.index) && !census_.completed.contains(pod.index))
        new_indexes_.insert(pod.index);
    } else if (!noted_succeeded_.contains(pod.ref.uid)) {
      out_.uncounted_succeeded.push_back(pod.ref.uid);
    }
  }

  void note_failure(const Pod& pod) {
    if (noted_failed_.contains(pod.ref.uid)) return;
    if (job_.is_indexed() && !job_.has_index(pod.index)) return;
    const auto verdict = judge(job_, pod);
    if (verdict) ++out_.judged[verdict->action];
    if (verdict && verdict->action == FailureAction::kIgnore) return;
    out_.uncounted_failed.push_back(pod.ref.uid);
  }

  const Job& job_;
  const Census& census_;
  const std::optional<Finish>& finish_;
  Accounts out_;
  Uids noted_succeeded_;
  Uids noted_failed_;
  std::set<std::int64_t> new_indexes_;
};

}  // namespace

Accounts account(const Job& job, const Census& census, const std::optional<Finish>& finish) {
  return Accountant(job, census, finish).account();
}

}  // namespace muster::controllers::job
