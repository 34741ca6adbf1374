// What must hold at every revision of every run, whatever fails (experience 4.2, R8 to R10). Sees
// each change of JobSets, Jobs and pods in order and keeps what it needs to judge the next one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "store/store.h"

namespace muster::sim {

class Invariants {
 public:
  // Of a JobSet, a Job or a Pod; other kinds are ignored.
  void took(const store::Event& event);
  // At rest: everything owned has its owner.
  void check_at_rest(const std::vector<store::ObjectPtr>& all);

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void took_job_set(const store::Event& event, json::Value object);
  void took_job(const store::Event& event, json::Value object);
  void took_pod(const store::Event& event, json::Value object);
  void check_barrier(const store::Event& event, const api::Pod& pod);
  std::int64_t expected_at_barrier(const api::JobSet& set, std::string_view barrier) const;
  void check_turn(const api::JobSet& set, const api::Job& job);
  void learn_progress(const api::JobSet& set, std::int32_t attempt);
  void violated(const store::Event& event, std::string what);

  struct Stage {
    std::string uid;
    std::int32_t attempt;
    std::string replicated_job;
    auto operator<=>(const Stage&) const = default;
  };
  std::map<std::string, api::JobSet> sets_;  // by uid
  std::map<std::string, api::Job> jobs_;     // by uid
  std::set<Stage> was_ready_, was_complete_;
  struct Slot {
    std::string job;
    std::string index;
    auto operator<=>(const Slot&) const = default;
  };
  std::map<Slot, std::set<std::string>> live_pods_;  // uids
  struct Barrier {
    std::string set_uid;
    std::string signal;  // the ConfigMap's name and the attempt's key
    auto operator<=>(const Barrier&) const = default;
  };
  std::map<Barrier, std::set<Slot>> reached_;  // who has ever got there
  std::vector<std::string> violations_;
};

}  // namespace muster::sim
