// Counts the pods that have reached a barrier, as their events come. Of other pods, and of those
// that have not got there, nothing is kept: a cluster may have many.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "client/informer.h"
#include "client/work_queue.h"
#include "controllers/jobset/barrier.h"

namespace muster::controllers::jobset {

// It waits in the barrier's container or is past it. A pod that waits is still Pending; one that is
// on its way out, or has given up, does not count.
bool has_started(json::Value pod);
// Of one that has started: its main containers do not run yet.
bool is_held(json::Value pod);

class BarrierPods {
 public:
  // Told after each change of a count. `complete`: as many have started as the pod says there are.
  using Changed = std::function<void(const client::QueueKey& set, bool complete)>;
  BarrierPods(client::Informer& pods, Changed changed);
  BarrierPods(const BarrierPods&) = delete;

  // A set by its namespace and uid, so that pods of other namespaces, whatever their labels claim,
  // are not counted.
  using SetUid = client::QueueKey;
  const Starts* of(const SetUid& set) const;  // null if none of its pods has started

 private:
  struct Group {
    client::QueueKey set;
    Starts starts;
    std::map<std::int32_t, std::int64_t> totals;  // by attempt
  };
  struct Place {
    SetUid set;
    Starts::Job job;
    bool held = false;
  };

  void took(const client::ObjectPtr& before, const client::ObjectPtr& after, json::Value content);
  void add(const api::Meta& meta, std::int32_t attempt, bool held);
  void hold(Place& place, bool held);
  void remove(const std::string& pod_uid);

  Changed changed_;
  std::map<SetUid, Group> groups_;
  std::map<std::string, Place> places_;  // of pods that have started, by uid
};

}  // namespace muster::controllers::jobset
