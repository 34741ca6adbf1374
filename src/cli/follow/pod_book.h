// What is known of a JobSet's pods, from the objects and from events about them. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "story/pod_facts.h"
#include "story/pod_warning.h"
#include "story/stages.h"

namespace muster::cli {

struct KnownPod {
  story::PodFacts facts;
  bool gone = false;
  // Why it cannot be prepared; only its events tell.
  std::string fault_reason;
  std::string fault;

  bool is_live() const { return !gone && !facts.has_ended(); }
};

class PodBook {
 public:
  explicit PodBook(std::string job_set) : job_set_(std::move(job_set)) {}

  struct Change {
    const KnownPod& pod;
    bool could_not_start = false;               // for the first time
    bool wants_room = false;                    // likewise: what nodes offer has to be asked for
    std::vector<story::PodWarning> warnings{};  // that came before it
  };
  Change see(story::PodFacts facts);
  void forget(const std::string& uid);  // the object is gone; its facts are still of use

  // Whether the pod is known; a warning of another one is kept until it is.
  bool take_warning(const std::string& uid, const story::PodWarning& warning);
  // A Job whose pods the server does not take (of an account that is not there, say) has none that
  // could tell. Returns whether it is one of this JobSet.
  bool take_podless(const api::JobSet& set, const std::string& job, const std::string& why,
                    std::optional<Time> told);
  void take_room(const story::Room& room);

  std::size_t size() const { return pods_.size(); }
  const std::set<std::string, std::less<>>& stages() const { return stages_; }  // that had a pod
  story::PodList present() const;                                               // by name
  bool has_live() const;
  std::vector<std::string> live() const;  // names

  // What keeps a pod from running, in a line; empty if nothing does, or what nodes offer has not
  // been answered yet.
  std::string trouble() const;
  std::optional<story::DeadEnd> dead_end() const;
  // The one that failed first in this attempt; null if none has.
  const story::PodFacts* first_failure(std::int64_t attempt) const;
  const story::PodFacts* first_failure() const;  // in any
  // Of the process that is meant (story::is_meant), in this attempt, once it has ended.
  std::optional<std::int64_t> exit_code(std::string_view selection, std::int64_t attempt) const;

 private:
  void take_fault(KnownPod& known);
  void tell_shortage(KnownPod& known) const;

  std::string job_set_;
  std::map<std::string, KnownPod> pods_;  // by uid, also pods that are gone
  // Of pods that are not known yet, by uid; most are of others.
  std::multimap<std::string, story::PodWarning> early_;
  std::map<std::string, std::string> podless_;  // Jobs whose pods are not taken, and why
  std::set<std::string, std::less<>> stages_;
  std::optional<story::Room> room_;
  bool wants_room_ = false;
};

}  // namespace muster::cli
