// Counting ended pods exactly once (spec: job 2.5). Pure.
//
// A pod keeps its tracking finalizer until the status knows it: first its UID is noted as uncounted
// (or its index as completed) and stored, then the finalizer goes, then the UID becomes part of a
// counter. Whatever is interrupted in between is taken up again from what is stored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/job/census.h"
#include "controllers/job/finish_decision.h"
#include "controllers/job/job_view.h"

namespace muster::controllers::job {

struct Accounts {
  // What was noted before and has lost its finalizer since is counted now.
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::vector<std::string> still_uncounted_succeeded;
  std::vector<std::string> still_uncounted_failed;

  // Then the pods that this pass notes: all of these, those before included.
  std::vector<std::string> uncounted_succeeded;
  std::vector<std::string> uncounted_failed;
  api::IntervalSet completed;           // Indexed Jobs; its size is what has succeeded
  std::vector<const Pod*> let_go;       // their finalizers may go once the above is stored
  bool full = false;                    // enough for one pass; more are waiting
  std::map<FailureAction, int> judged;  // failed pods noted or ignored, by what the policy said
};

Accounts account(const Job& job, const Census& census, const std::optional<Finish>& finish);

}  // namespace muster::controllers::job
