// The feature gates that change what the JobSet controller does.
#pragma once

#include "admission/feature_gates.h"

namespace muster::controllers::jobset {

struct Gates {
  bool restart_job = false;
  bool elastic_job_set = false;
  bool group_scheduling = true;
  bool restart_backoff = true;

  static Gates of(const admission::FeatureGates& gates) {
    return {.restart_job = gates.enabled("RestartJob"),
            .elastic_job_set = gates.enabled("ElasticJobSet"),
            .group_scheduling = gates.enabled("GroupScheduling"),
            .restart_backoff = gates.enabled("RestartBackoff")};
  }
};

}  // namespace muster::controllers::jobset
