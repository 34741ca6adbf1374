// How many pods Jobs may create ahead of those that have a node (PodLimits): which pods wait, whose
// room they take, and which Job may go on when there is room again. A change costs a few lookups,
// whatever the number of pods and Jobs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "client/work_queue.h"
#include "controllers/job/job_view.h"
#include "controllers/job/pod_view.h"
#include "controllers/runtime/creation_room.h"
#include "controllers/runtime/job_limits.h"

namespace muster::controllers::job {

class PodRoom {
 public:
  explicit PodRoom(const PodLimits& limits) : limits_(limits) {}

  // A change as a cache tells it. Returns a Job that may go on because of it, if there is one.
  std::optional<client::QueueKey> pod_changed(const Pod* before, const Pod* after);

  // A Job is about to be looked at: what its last plan created is seen by now.
  void look(const client::QueueKey& key);
  void forget(const client::QueueKey& key);  // it is gone
  CreationRoom limit_for(const Job& job) const;
  // What came of the look: so many pods are being created; `held_back` if there was no room for
  // more. Returns another Job that may go on, if this one leaves room.
  std::optional<client::QueueKey> planned(const Job& job, std::size_t births, bool held_back);

 private:
  // Pods that share a limit: those of a JobSet, or of a Job that belongs to none.
  struct Group {
    std::size_t waiting = 0;          // have no node
    std::size_t coming = 0;           // are being created
    std::set<client::QueueKey> held;  // Jobs that want more than there is room for
    client::QueueKey last;            // that was woken
  };
  struct Coming {
    std::string group;
    std::size_t births = 0;
  };

  CreationRoom limit_of(const std::string& group) const;
  std::optional<client::QueueKey> next_held(const std::string& group);
  std::optional<client::QueueKey> next_held_in(const std::string& group);
  void let_off(const client::QueueKey& key);
  void drop_if_empty(const std::string& group);

  PodLimits limits_;
  std::map<std::string, Group> groups_;
  std::set<std::string> held_groups_;             // that have Jobs which are held back
  std::string last_group_;                        // of these that was woken by another group
  std::size_t of_all_ = 0;                        // waiting and coming, of all groups
  std::map<client::QueueKey, Coming> coming_;     // by Job
  std::map<client::QueueKey, std::string> held_;  // the groups of Jobs that are held back
};

}  // namespace muster::controllers::job
