// Builds the child Jobs of one replicated job (spec: jobset 3.5, 4.2, 4.6). The template is read
// and stamped once; for each Job only what depends on its index is set before the text is written.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/jobset/barrier_container.h"
#include "controllers/jobset/child.h"
#include "controllers/jobset/gates.h"
#include "controllers/jobset/rank_environment.h"
#include "json/value.h"

namespace muster::controllers::jobset {

// In which attempt Jobs are made, and how their pods wait for each other.
struct Execution {
  std::int32_t attempt = 0;  // restarts and resumes (barrier.h)
  BarrierProgram barrier = {};
  int master_port = 0;  // for pods that have ranks
};

// Tells templates apart by what may be changed while a set is suspended: labels, annotations and
// placement of its pods.
std::string template_digest(const api::ReplicatedJob& replicated_job);

class JobBuilder {
 public:
  // `replicated_job` is one of the set's; both must outlive the builder.
  JobBuilder(const api::JobSet& set, const api::ReplicatedJob& replicated_job, Gates gates,
             const Execution& execution = {});
  JobBuilder(const JobBuilder&) = delete;

  // The Job's JSON text.
  std::string build(std::int32_t index);

  // A merge patch that resumes a suspended Job. Its pods will run where the template now says
  // (Kueue moves workloads by editing it): what was said before goes. Labels and annotations are
  // only added, others may have theirs there.
  json::Value resume_patch(json::Arena& arena, const Child& job) const;

 private:
  void make_skeleton(const Execution& execution);
  void stamp(json::Value to) const;
  void place_exclusively(json::Value metadata, json::Value pod_metadata);
  void add_volumes(json::Value pod);
  void add_ranks(const Execution& execution);

  // Where the entry's Jobs stand among others.
  struct Place {
    std::int64_t start = 0;     // Jobs of earlier entries
    std::int64_t replicas = 0;  // Jobs of all entries
  };
  template <class Among>
  Place place(Among among) const;

  const api::JobSet& set_;
  const api::ReplicatedJob& entry_;
  Gates gates_;
  Place in_set_, in_group_;
  json::Arena arena_;
  json::Value template_;             // as the JobSet has it
  json::Value job_;                  // complete but for what depends on the index
  std::array<json::Value, 4> maps_;  // labels and annotations of the Job and of its pods
  bool by_node_selector_ = false;    // exclusive placement on nodes that were labelled beforehand
  std::optional<Ranks> ranks_;
};

}  // namespace muster::controllers::jobset
