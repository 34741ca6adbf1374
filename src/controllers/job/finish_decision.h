// Whether a Job ends now, and how (spec: job 2.3). Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "controllers/job/census.h"
#include "controllers/job/job_view.h"

namespace muster::controllers::job {

struct Finish {
  bool success = false;
  bool announced = false;  // the interim condition is in the status already
  std::string reason;
  std::string message;

  std::string_view interim() const { return success ? "SuccessCriteriaMet" : "FailureTarget"; }
  std::string_view terminal() const { return success ? "Complete" : "Failed"; }
};

// Everything but "all completions are there", which depends on what becomes of the active pods.
std::optional<Finish> decide_finish(const Job& job, const Census& census,
                                    std::optional<Time> start_time, Time now);

// With so many still active.
std::optional<Finish> decide_completion(const Job& job, const Census& census, std::int64_t active);

// Until activeDeadlineSeconds are over; nothing if they do not run.
std::optional<Duration> until_deadline(const Job& job, std::optional<Time> start_time, Time now);

}  // namespace muster::controllers::job
