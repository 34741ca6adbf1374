// What a JobSet needs next (spec: jobset 3). Pure: reads its arguments and nothing else.
#pragma once

#include <set>
#include <span>
#include <string>

#include "controllers/jobset/barrier.h"
#include "controllers/jobset/barrier_container.h"
#include "controllers/jobset/child.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/creation_limit.h"
#include "controllers/jobset/gates.h"
#include "controllers/jobset/master_port.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers::jobset {

// A plan creates so many Jobs at most, the next one goes on: replicas may be 2^31-1, and a plan
// holds the text of each Job.
inline constexpr std::size_t kMostJobsPerPass = 1'000;

// What is there.
struct View {
  const api::JobSet& set;
  std::span<const Child* const> children;  // Jobs whose controller it is, in any attempt
  bool has_service = false;                // a Service of the subdomain's name, whosever it is
  std::set<std::string, std::less<>> claims = {};  // of claim_names(set), those that exist
  Gates gates = {};
  // Of its barrier, if it has one (barrier.h): null if there is no ConfigMap, if no pod has
  // started.
  const Signal* signal = nullptr;
  const Starts* starts = nullptr;
  BarrierProgram barrier_program = {};
  CreationRoom creation = {};
  bool shares_ports = false;  // pods share the ports of one machine (master_port.h)
  // Then: the port that an earlier plan asked for.
  std::optional<GivenPort> given_port = {};
};

struct Outcome {
  Plan plan;
  api::JobSetStatus status;  // when the plan has been carried out
  // A free port must be found before anything can be written; the plan is empty then.
  std::optional<PortRequest> port_request = {};
};

Outcome plan(const Kinds& kinds, const View& view, Time now);

}  // namespace muster::controllers::jobset
