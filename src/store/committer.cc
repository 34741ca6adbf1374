#include "store/committer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "store/subscription.h"

namespace muster::store {
namespace {

// Rows forgotten in one transaction: what a write that arrives just then has to wait for, a few
// milliseconds.
constexpr std::size_t kForgetBatch = 128;
// Rows that may wait to be forgotten while writes keep coming; then each group takes one batch
// along.
constexpr std::size_t kMaxGarbage = 8'192;
// When clients should try again while the disk is full.
constexpr int kRetryAfterSeconds = 5;

std::vector<std::string> qualified(const std::vector<ResourceName>& names) {
  std::vector<std::string> result;
  for (const ResourceName& name : names) result.push_back(name.qualified());
  return result;
}

std::unexpected<Error> refusal(Code code, std::string message) {
  return std::unexpected(Error{
      .code = code, .message = std::move(message), .retry_after_seconds = kRetryAfterSeconds});
}

}  // namespace

Committer::Committer(std::unique_ptr<Durability> disk, std::vector<ResourceName> names,
                     LoadedStore loaded, const Clock& clock, Metrics& metrics)
    : disk_(std::move(disk)),
      names_(std::move(names)),
      qualified_names_(qualified(names_)),
      clock_(clock),
      newest_(std::move(loaded.newest)),
      history_(std::move(loaded.history)),
      live_bytes_(loaded.live_bytes),
      gauges_(make_gauges(metrics, names_)) {
  std::set<int> all;
  for (int id = 0; id < static_cast<int>(names_.size()); ++id) all.insert(id);
  show(all);
}

void Committer::commit(std::vector<CommitQueue::Pending> group, std::size_t still_waiting) {
  const Time start = clock_.now();
  gauges_.queue_length.set(static_cast<double>(still_waiting));

  Draft draft(*newest_->get(), names_);
  std::size_t writes = 0;
  std::vector<ListResult> outcomes;
  outcomes.reserve(group.size());
  for (auto& pending : group) {
    writes += pending.list.size();
    outcomes.push_back(draft.apply(std::move(pending.list)));
  }
  gauges_.group_writes.observe(static_cast<double>(writes));

  if (!draft.changes().empty()) {
    if (const Status written = write(draft); written) {
      publish(draft, start);
    } else {
      // Also those that were refused: what refused them may be a write of this group, which never
      // happened.
      for (auto& outcome : outcomes) {
        outcome = std::unexpected(ListError{written.error(), std::nullopt});
      }
    }
    gauges_.commit_seconds.observe(std::chrono::duration<double>(clock_.now() - start).count());
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i].done(std::move(outcomes[i]));
}

Status Committer::write(const Draft& draft) {
  if (broken_) return refusal(Code::kUnavailable, trouble());
  const Status written = disk_->append(draft.records(qualified_names_));
  if (written) {
    tidy_paused_ = false;
    set_trouble("");
    return {};
  }
  gauges_.failed_groups.add();
  const std::string& reason = written.error().message;
  if (written.error().code == Code::kUnavailable) {
    set_trouble(fmt::format("the store cannot be written to now: {}", reason));
    return refusal(Code::kUnavailable, fmt::format("{}; nothing was changed", trouble()));
  }
  broken_ = true;
  set_trouble(
      fmt::format("the store takes no more writes until the server is restarted: {}", reason));
  return fail(Code::kInternal,
              fmt::format("it is not known whether the change is on disk: {}", reason));
}

void Committer::publish(Draft& draft, Time now) {
  std::set<int> touched;
  last_group_ = draft.changes().size();
  {
    const std::lock_guard lock(history_mutex_);
    for (const auto& [resource, event] : draft.changes()) {
      touched.insert(resource);
      if (event.previous) live_bytes_ -= memory_of(*event.previous);
      if (event.type != Event::Type::kDeleted) live_bytes_ += memory_of(*event.object);
      history_->append(resource, event, now);
    }
    newest_->set(draft.finish());
    history_->trim(now, live_bytes_);
  }
  show(touched);
  for (const int resource : touched) log(resource).wake();
}

bool Committer::wants_tidying(Tidy when) const {
  if (tidy_paused_ || broken_) return false;
  const std::lock_guard lock(history_mutex_);
  return history_->garbage_count() > (when == Tidy::kUrgent ? kMaxGarbage : 0);
}

void Committer::tidy(Tidy when) {
  History::Garbage garbage;
  {
    const std::lock_guard lock(history_mutex_);
    garbage = history_->garbage(when == Tidy::kUrgent ? std::max(kForgetBatch, 2 * last_group_)
                                                      : kForgetBatch);
  }
  std::vector<Floor> floors;
  for (const auto& [resource, floor] : garbage.floors) {
    floors.push_back({qualified_names_[static_cast<std::size_t>(resource)], floor});
  }
  if (const Status forgotten = disk_->forget(garbage.revisions, floors); !forgotten) {
    tidy_paused_ = true;
    log::warn("old revisions could not be removed from disk",
              {{"error", forgotten.error().message}});
    return;
  }
  const std::lock_guard lock(history_mutex_);
  history_->forgotten(garbage);
}

Result<std::unique_ptr<Subscription>> Committer::watch(const std::vector<int>& resources,
                                                       Revision after,
                                                       std::function<void()> wake) const {
  std::vector<std::shared_ptr<WatchLog>> logs;
  for (const int resource : resources) logs.push_back(history_->shared_log(resource));
  return subscribe(std::move(logs), newest_, after, std::move(wake));
}

void Committer::compact() {
  const std::lock_guard lock(history_mutex_);
  history_->compact(newest_->revision());
}

std::string Committer::trouble() const {
  const std::lock_guard lock(trouble_mutex_);
  return trouble_;
}

void Committer::set_trouble(std::string why) {
  {
    const std::lock_guard lock(trouble_mutex_);
    if (trouble_ == why) return;
    trouble_ = why;
  }
  // Logged once when it begins and once when it ends; the writers get it as their answer each time.
  if (why.empty()) {
    log::info("the store can be written to again");
  } else {
    log::error("writes are refused", {{"reason", why}});
  }
}

void Committer::show(const std::set<int>& touched) {
  const auto state = newest_->get();
  gauges_.revision.set(static_cast<double>(state->revision()));
  gauges_.wal_bytes.set(static_cast<double>(disk_->log_bytes()));
  {
    const std::lock_guard lock(history_mutex_);
    gauges_.history_bytes.set(static_cast<double>(history_->bytes()));
  }
  for (const int resource : touched) {
    gauges_.objects[static_cast<std::size_t>(resource)]->set(
        static_cast<double>(state->map(resource).size()));
  }
}

Committer::Gauges Committer::make_gauges(Metrics& metrics, const std::vector<ResourceName>& names) {
  Gauges gauges{
      .commit_seconds = metrics.histogram(
          "muster_store_commit_seconds", "From taking up a group to its sync.",
          {.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5}),
      .group_writes =
          metrics.histogram("muster_store_group_writes", "Writes per group, refused ones included.",
                            {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}),
      .failed_groups =
          metrics.counter("muster_store_failed_groups_total", "Groups that the disk refused."),
      .queue_length = metrics.gauge("muster_store_queue_length",
                                    "Writes left waiting when a group was taken up."),
      .revision = metrics.gauge("muster_store_revision", "The newest revision."),
      .wal_bytes = metrics.gauge("muster_store_wal_bytes",
                                 "Written to the log and not yet checkpointed, at most."),
      .history_bytes =
          metrics.gauge("muster_store_history_bytes", "Memory held by the watch logs alone."),
      .objects = {},
  };
  for (const ResourceName& name : names) {
    gauges.objects.push_back(&metrics.gauge("muster_store_objects", "Living objects.",
                                            {{"resource", name.qualified()}}));
  }
  return gauges;
}

}  // namespace muster::store
