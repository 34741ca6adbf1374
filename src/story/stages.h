// How a JobSet stands: its stages (replicated jobs), what they wait for, and the whole in a word.
// Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "story/pod_facts.h"

namespace muster::story {

enum class StageState : std::uint8_t {
  kSuspended,
  kWaiting,
  kStarting,
  kRunning,
  kDone,
  kFailed,
  kStopped,
  kNeverStarted
};
std::string_view word_for(StageState state);

struct Stage {
  std::string name;
  StageState state = StageState::kWaiting;
  std::int64_t jobs = 0;
  std::int64_t jobs_ready = 0;     // or succeeded
  std::int64_t pods = 0;           // that must run at once
  std::int64_t pods_ready = 0;     // known only with pods
  std::int64_t pods_finished = 0;  // well; likewise
  std::string waits_for;           // "dataset to be Complete, model to be Ready"
  std::optional<Time> started;     // its first pod
  std::optional<Time> finished;
  std::string never_because;  // it never started: "dataset failed"

  std::int64_t pods_there() const { return pods_ready + pods_finished; }
};

struct Outcome {
  bool succeeded = false;
  std::string reason;
  std::string message;
};

struct Standing {
  std::string name;
  std::string state;    // Suspended, Waiting, Starting, Running, Restarting, Completed, Failed
  std::string waiting;  // the condition muster.dev/Waiting
  std::int64_t restarts = 0;
  std::optional<std::int64_t> max_restarts;
  std::vector<Stage> stages;
  std::optional<Outcome> outcome;
  bool suspended = false;
  std::optional<Time> created;

  // Names of the stages that are under way, "a,b"; "-" if there is none.
  std::string current() const;
};

// With pods, if they are known: only those of the present attempt count.
Standing standing_of(const api::JobSet& set, const PodList& pods = {});

// At the end: stages that were stopped, and of which no pod was ever seen, never started. For who
// has seen all pods.
void mark_unstarted(Standing& standing, const std::set<std::string, std::less<>>& seen);

// What a run cannot get over by itself.
struct DeadEnd {
  std::string pod;         // or its Job, if that gets none
  std::string why;         // "pod x cannot start: CreateContainerConfigError: …"
  Duration grace;          // so long it has to last: statuses come one after the other, faults pass
  std::string brief = {};  // for who has read the reason; empty: there is none
};
// A pod that is kept from starting; or one that cannot be placed while none of the others runs and
// may make room (those at the barrier wait for it). Nothing if something still moves.
std::optional<DeadEnd> dead_end(const PodList& pods);

}  // namespace muster::story
