// What a Job needs next (spec: job 2). Pure: reads its arguments and nothing else.
//
// One plan does what one look can decide. Where the next write depends on the effect of the one
// before (counters after finalizers, the end after the announcement of it), that is the next plan,
// made of what is stored by then; so a controller that dies anywhere goes on from there.
#pragma once

#include <map>
#include <span>
#include <string>

#include "controllers/job/backoff.h"
#include "controllers/job/job_view.h"
#include "controllers/job/pod_room.h"
#include "controllers/job/pod_view.h"
#include "controllers/job/pod_writes.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::job {

struct View {
  const Job& job;
  std::span<const Pod* const> controlled;    // pods whose controller it is
  std::span<const Pod* const> uncontrolled;  // pods of its namespace without any controller
  const BackoffRecord& backoff;
  CreationRoom births = {};
  // It goes with its owner, which is gone or being deleted. Pods that it would still get are
  // garbage before they run.
  bool goes_with_owner = false;
  int failures = 0;  // passes for this Job that failed in a row just before
  Time now{};
};

// What the plan adds to the metrics, once it is carried out.
struct Tally {
  int pods_created = 0;
  bool replacing = false;  // of which some take the place of others
  int pods_deleted = 0;
  int pods_succeeded = 0;
  int pods_failed = 0;
  int indexes_succeeded = 0;
  int indexes_failed = 0;
  std::map<FailureAction, int> judged;
  std::string finished_as;  // Complete or Failed, if the Job ends
  std::string finish_reason;
};

struct Outcome {
  Plan plan;
  BackoffRecord backoff;
  Tally tally;
  bool held_back = false;  // it wants more pods than there is room for (CreationRoom)
};

Outcome plan(const Kinds& kinds, const View& view);

}  // namespace muster::controllers::job
