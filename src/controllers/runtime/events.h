// Tells people what controllers did, as Event objects. Repetitions become one object with a growing
// count, many similar ones are combined, and a flood about one object is cut (spec: job 2.13,
// jobset 3.17). Best effort: nothing waits for an event, and a lost one is lost.
#pragma once

#include <memory>
#include <string>

#include "api/schema/registry.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers {

class EventRecorder {
 public:
  enum class Form {
    kCore,    // v1, with source, count and timestamps, as the Job controller writes them
    kSeries,  // events.k8s.io/v1, with action and series, as the JobSet controller writes them
  };
  virtual ~EventRecorder() = default;
  virtual void record(const Event& event) = 0;
};

// `reporter` is the component that people see: "job-controller", "jobset". `host` is the node that
// it works on, if it belongs to one.
std::unique_ptr<EventRecorder> make_event_recorder(client::Client& client,
                                                   const api::Registry& registry,
                                                   std::string reporter, EventRecorder::Form form,
                                                   std::string host = {});

}  // namespace muster::controllers
