// When a probe is due and what its results mean. Pure: time is passed in.
#pragma once

#include <optional>
#include <string>

#include "agent/probes/attempt.h"
#include "agent/probes/prober.h"
#include "base/time.h"
#include "json/value.h"

namespace muster::agent {

struct ProbeSettings {
  std::chrono::seconds initial_delay{0};
  std::chrono::seconds period{10};
  std::chrono::seconds timeout{1};
  int success_threshold = 1;
  int failure_threshold = 3;
};
ProbeSettings probe_settings(json::Value probe);  // with the defaults of what is not said

// What is to be done about an outcome. The event is a Warning; no message: no event.
struct ProbeReaction {
  bool try_again = false;       // at once
  std::optional<bool> verdict;  // reached or changed
  std::string event_reason;
  std::string event_message;
};

class ProbeRules {
 public:
  struct Begin {
    Time now{};                // the worker begins to tick
    Time container_started{};  // what the initial delay counts from
    bool adopted = false;      // the run is not new: its first tick counts
    Duration spread{};         // by which the ticks of an adopted run are put off
    bool was_ready = false;
  };
  ProbeRules(ProbeKind kind, const ProbeSettings& settings, const Begin& begin);

  // Nothing: it has said what it had to say about this run.
  std::optional<Time> next_tick() const;
  // The tick has come (or is late); true if the probe is to be executed now.
  bool tick(Time now, bool container_has_started);
  ProbeReaction take(const ProbeOutcome& outcome);
  // The next tick is now, and the period counts from there.
  void look_now(Time now) { next_tick_ = now; }

 private:
  std::optional<bool> count(bool success);
  void schedule_second_look(bool success);

  const ProbeKind kind_;
  const ProbeSettings settings_;
  const Time earliest_;  // when the initial delay is over
  Time last_tick_;
  Time next_tick_;
  bool second_look_;  // is owed to a run that was not ready at the first
  bool finished_ = false;
  int errors_ = 0;            // in a row, within one tick
  std::optional<bool> last_;  // result
  int in_a_row_ = 0;          // of last_
  std::optional<bool> verdict_;
};

}  // namespace muster::agent
