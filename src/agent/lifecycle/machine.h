// The life of a pod on its node, decided: what is started, stopped and told next (pod-lifecycle 2).
//
// No clock, no input, no output: a look depends on the pod, the memory and the time alone, and
// notes in the memory what it has decided. The agent carries actions out and adds what it hears to
// the memory, then asks again; asking twice changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/memory.h"
#include "agent/lifecycle/pod_view.h"
#include "agent/lifecycle/restart.h"

namespace muster::agent {

struct Action {
  enum class Kind : std::uint8_t {
    kStart,      // answer with begin_run() or note_trouble() before asking again
    kPostStart,  // run the hook; its end goes to Run::post_start
    kPreStop,    // likewise, Stop::pre_stop
    kTerminate,  // SIGTERM to the main process; a hook that still runs is given up
    kKill,       // all its processes
    kOpenGate,   // lets those go that are held; answer with note_gate_…() likewise
  };
  Kind kind = Kind::kStart;
  std::size_t container = 0;
  bool held = false;  // kStart: make it ready, do not execute it yet
  bool operator==(const Action&) const = default;
};

// For the pod's events.
struct Notice {
  std::optional<std::size_t> container;
  bool warning = false;
  std::string reason;
  std::string message;
};

struct Decision {
  std::vector<Action> actions;
  std::vector<Notice> notices;
  std::optional<Time> look_again;  // even if nothing is heard until then
};

// SIGTERM is followed by SIGKILL no sooner than this.
inline constexpr Duration kLeastGrace = std::chrono::seconds(2);

Decision advance(const PodView& pod, PodMemory& memory, const BackoffOptions& backoff, Time now);

// Answers to kStart: it is on its way, or it cannot be tried.
Run& begin_run(PodMemory& memory, std::size_t container, bool held);
void note_trouble(PodMemory& memory, std::size_t container, Trouble trouble);
// The runtime refused the run that was begun: it never was.
void take_back_run(PodMemory& memory, std::size_t container);

// The pod cannot go on: it ends as Failed with this reason.
void fail_for_good(PodMemory& memory, Verdict verdict);

// Answers to kOpenGate.
void note_gate_open(PodMemory& memory);
void note_gate_shut(PodMemory& memory, Time retry);

}  // namespace muster::agent
