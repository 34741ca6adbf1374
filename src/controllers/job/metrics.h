// What the Job controller counts, under the names of kube-controller-manager (spec: job 2.12).
#pragma once

#include "base/metrics.h"
#include "controllers/job/job_view.h"
#include "controllers/job/plan.h"
#include "controllers/job/pod_view.h"

namespace muster::controllers::job {

class JobMetrics {
 public:
  explicit JobMetrics(Metrics& metrics) : metrics_(metrics) {}

  // A plan for the Job was carried out.
  void add(const Job& job, const Tally& tally, Duration took);
  void add_managed_elsewhere(const Job& job);
  // A pod ended while it was tracked, or an ended one is tracked no more.
  void pod_changed(const Pod* before, const Pod* after);

 private:
  void add(const char* name, const char* help, const Metrics::Labels& labels, int by = 1);

  Metrics& metrics_;
};

}  // namespace muster::controllers::job
