// What the node knows about one pod between two looks at it: the runs of its containers and how far
// it has come. Plain data: the machine (machine.h) changes it, the agent adds what it hears.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/pod_view.h"
#include "base/time.h"

namespace muster::agent {

// How a run ended.
struct End {
  int code = 0;
  std::string reason;  // Completed, Error, OOMKilled, StartError, ContainerStatusUnknown …
  std::string message;
  Time finished{};
};

enum class Hook : std::uint8_t { kNone, kRunning, kDone, kFailed };

// A run that is being stopped (pod-lifecycle 2.7).
struct Stop {
  Time deadline{};  // the end of its grace
  Hook pre_stop = Hook::kNone;
  std::optional<Time> signalled;
  bool killed = false;
};

struct Run {
  int number = 0;
  std::string id;               // of this run for ever; empty while it is on its way
  bool held = false;            // ready behind the gate, not executed
  std::optional<Time> started;  // executed
  std::optional<End> end;
  std::optional<bool> startup;    // verdicts of its probes
  std::optional<bool> readiness;  //
  bool unhealthy = false;         // liveness or startup has failed
  Hook post_start = Hook::kNone;
  std::optional<Stop> stop;

  bool alive() const { return !end; }
  bool running() const { return started && !end; }
};

// Why a container could not even be tried, and when to try again.
struct Trouble {
  std::string reason;  // of the waiting state: CreateContainerConfigError …
  std::string message;
  Time retry{};
};

// Of the restarts of one container (pod-lifecycle 2.5). Lives in memory only.
struct Backoff {
  Duration delay{};  // 0: no restart yet
  Time last_start{};
};

struct ContainerMemory {
  std::optional<Run> run;       // the newest
  std::optional<Run> previous;  // the one before it; has ended
  int next_number = 0;
  std::optional<Trouble> trouble;
  Backoff backoff;
  std::optional<Time> waits_until;  // the end of its back-off
};

enum class Stage : std::uint8_t {
  kSync,         // containers are started and restarted
  kTerminating,  // nothing is started any more, what runs is stopped
  kTerminated,   // nothing runs any more
};

// An end that the node decided on.
struct Verdict {
  std::string reason;  // DeadlineExceeded …
  std::string message;
};

struct PodMemory {
  Stage stage = Stage::kSync;
  std::vector<ContainerMemory> containers;  // in the order of the view
  // Volumes are set up, the address is known, its processes have a home.
  bool prepared = false;
  std::string host_ip;
  std::string pod_ip;
  std::optional<Time> start_time;
  std::optional<Verdict> failed;      // must end as Failed, for this reason
  std::optional<std::int64_t> grace;  // of the stop, the shortest that was asked for
  bool object_gone = false;           // deleted from the API: there is nobody to tell
  bool barrier_open = false;          // it may go on
  bool barrier_unnamed = false;       // all have started; only the coordinator's name is missing
  // For the message of a timeout, as the controller last counted.
  std::string barrier_started = "1";  // pods that have started: this one at least
  std::string barrier_missing;        // pods that have not, by Job
  bool gate_opened = false;
  std::optional<Time> gate_retry;  // it could not be opened: not again before this
  // In-place restart of all containers (rule RestartAllContainers): the one that asked for it.
  std::optional<std::size_t> reset_by;

  bool any_alive() const;
};

PodMemory fresh_memory(const PodView& pod);

// Whether a main container was ever executed in this life of the pod: from then on init containers
// never run again.
bool is_initialized(const PodView& pod, const PodMemory& memory);

// `started` of a container status: running, and its startup probe has succeeded if it has one.
bool is_started(const ContainerView& container, const ContainerMemory& memory);

// As the container's current run, if it is that one; null otherwise.
Run* find_run(const PodView& pod, PodMemory& memory, std::string_view container, int number);

}  // namespace muster::agent
