// What ran when in a JobSet, as bars on a common scale. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/views/views.h"
#include "base/time.h"
#include "story/events_text.h"
#include "story/pod_facts.h"

namespace muster::story {

// From its creation a pod waits (to be placed, for its volumes, at the barrier), then it runs.
struct Bar {
  std::string name;
  std::string stage;
  std::string attempt;
  std::string state;  // running, succeeded, failed, waiting; stopped of a pod that is gone
  Time created{};
  std::optional<Time> started;
  Time end{};  // now, if it has not ended
};

struct Timeline {
  std::string job_set;
  Time begin{};
  Time end{};
  std::vector<Bar> bars;  // by creation, stage and name
};

// `events` tell of pods that are gone: those of earlier attempts, and those that were stopped at
// the end. They are kept for an hour.
Timeline timeline_of(const api::JobSet& set, const std::vector<PodFacts>& pods,
                     const std::vector<EventRow>& events, Time now);

// `form` is text, json, svg or perfetto (Chrome trace events).
std::string print_timeline(const Timeline& timeline, std::string_view form, std::size_t width);

}  // namespace muster::story
