// The writer: takes groups of writes from the queue, makes them durable, publishes them, and tidies
// up behind. Everything here happens on the commit thread, one group at a time.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "store/commit_queue.h"
#include "store/draft.h"
#include "store/history.h"
#include "store/loader.h"

namespace muster::store {

class Committer {
 public:
  Committer(std::unique_ptr<Durability> disk, std::vector<ResourceName> names, LoadedStore loaded,
            const Clock& clock, Metrics& metrics);

  void commit(std::vector<CommitQueue::Pending> group, std::size_t still_waiting);

  // Superseded revisions leave the disk in small batches, when nothing else is to be done; and
  // after every group as soon as too many are waiting.
  enum class Tidy { kWhenIdle, kUrgent };
  bool wants_tidying(Tidy when) const;
  void tidy(Tidy when);  // one batch

  // Any thread.
  const Newest& newest() const { return *newest_; }
  WatchLog& log(int resource) const { return history_->log(resource); }
  Result<std::unique_ptr<Subscription>> watch(const std::vector<int>& resources, Revision after,
                                              std::function<void()> wake) const;
  std::size_t resources() const { return names_.size(); }
  void compact();
  Status backup(const std::string& file) { return disk_->backup(file); }
  std::string trouble() const;

 private:
  struct Gauges {
    Metrics::Histogram& commit_seconds;
    Metrics::Histogram& group_writes;
    Metrics::Counter& failed_groups;
    Metrics::Gauge& queue_length;
    Metrics::Gauge& revision;
    Metrics::Gauge& wal_bytes;
    Metrics::Gauge& history_bytes;
    std::vector<Metrics::Gauge*> objects;  // by resource
  };
  static Gauges make_gauges(Metrics& metrics, const std::vector<ResourceName>& names);

  Status write(const Draft& draft);
  void publish(Draft& draft, Time now);
  void set_trouble(std::string why);
  void show(const std::set<int>& touched);

  const std::unique_ptr<Durability> disk_;
  const std::vector<ResourceName> names_;
  const std::vector<std::string> qualified_names_;
  const Clock& clock_;
  const std::shared_ptr<Newest> newest_;

  mutable std::mutex history_mutex_;  // the commit thread, and compact()
  const std::unique_ptr<History> history_;
  std::size_t live_bytes_;

  std::size_t last_group_ = 0;  // changes in it
  // A sync has failed: what is on disk is not known, so nothing more is written.
  bool broken_ = false;
  // Forgetting has failed; it is tried again after the next write that succeeds.
  bool tidy_paused_ = false;
  mutable std::mutex trouble_mutex_;
  std::string trouble_;
  Gauges gauges_;
};

}  // namespace muster::store
