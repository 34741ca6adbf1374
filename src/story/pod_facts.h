// What people want to know of one pod of a JobSet. Pure.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "api/views/pod_phase.h"
#include "base/time.h"
#include "json/value.h"
#include "story/placement.h"

namespace muster::story {

// How a container ended.
struct ContainerEnd {
  std::string container;
  std::int64_t code = 0;  // 128 + signal if one killed it; kubelets tell the signal nowhere else
  std::string reason;     // Error, OOMKilled, StartError …
  std::string message;    // why it could not start, or its own last words
  std::optional<Time> at;

  // "exit code 3: its last words", "exit code 137, killed by signal 9 (OOMKilled)", "could not
  // start: no such program".
  std::string text() const;
};

struct PodFacts {
  std::string name;
  std::string uid;
  std::string stage;  // its replicated job
  std::string job;
  std::string job_index;
  std::string pod_index;  // completion index; empty if its Job has none
  std::string rank;       // among all pods that have one, else the index
  std::string attempt;
  std::string node;
  std::string phase;
  std::string status;  // the word of the STATUS column
  bool ready = false;
  bool at_barrier = false;                // waits for the others of its group
  std::string unschedulable;              // the scheduler's reason
  std::vector<Asked> lacking;             // of what there is too little, if that is all
  std::string trouble;                    // of a container that waits: "CrashLoopBackOff: …"
  std::string trouble_reason;             // its first word
  std::optional<ContainerEnd> failure;    // the first container that ended badly
  std::optional<std::int64_t> exit_code;  // when all has ended: the first other than 0, or 0
  std::optional<Time> created;
  std::optional<Time> started;   // its first container
  std::optional<Time> finished;  // its last container

  // Whose log can be read: containers that have run, with how often they were started again.
  struct Log {
    std::string container;
    std::int64_t restarts = 0;
  };
  std::vector<Log> logs;
  bool several_containers = false;

  bool has_ended() const { return api::is_end_phase(phase); }
};

PodFacts pod_facts(json::Value pod);

// Pods that are looked at together. Their facts stay where they are, and have to stay there.
class PodList {
 public:
  PodList() = default;
  PodList(std::initializer_list<PodFacts> pods) { add_all(pods); }
  PodList(const std::vector<PodFacts>& pods) { add_all(pods); }

  void add(const PodFacts& pod) { pods_.push_back(&pod); }
  void sort_by_name() { std::ranges::sort(pods_, {}, &PodFacts::name); }
  auto begin() const { return pods_.begin(); }
  auto end() const { return pods_.end(); }

 private:
  void add_all(const auto& pods) {
    for (const PodFacts& pod : pods) add(pod);
  }
  std::vector<const PodFacts*> pods_;
};

// "trainer-0-3" of pod "train-trainer-0-3-x7k2p" of JobSet "train".
std::string short_name(const PodFacts& pod, std::string_view job_set);

// Whether RJOB[/JOB[/POD]], with indexes or names, means this pod.
bool is_meant(const PodFacts& pod, std::string_view selection);

// Of two that failed: whether the first one did before the other, or is the cause of both.
bool failed_before(const PodFacts& a, const PodFacts& b);
// Of those that failed the one that failed first; null if none has.
const PodFacts* first_failure(const PodList& pods);

}  // namespace muster::story
