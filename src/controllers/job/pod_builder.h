// Pods as a Job's template describes them (spec: job 2.4).
#pragma once

#include <string>

#include "controllers/job/job_view.h"
#include "controllers/job/manage_pods.h"
#include "json/value.h"

namespace muster::controllers::job {

// The beginning of a pod's name, in the bounds that leave room for the part that the server adds.
std::string name_prefix(const Job& job, std::int64_t index);

class PodBuilder {
 public:
  explicit PodBuilder(const Job& job);

  // Of the builder's arena.
  json::Value build(const Birth& birth);

 private:
  json::Value common_part();
  void add_index(json::Value pod, std::int64_t index);
  void add_failures(json::Value pod, const Birth& birth);

  const Job& job_;
  json::Arena arena_;
  json::Value common_;  // what all pods of the Job share
};

}  // namespace muster::controllers::job
