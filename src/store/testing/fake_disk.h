// A disk that is a map, for tests of the store: it can be reopened, refuse, break, and be made to
// wait.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/durability.h"

namespace muster::store::testing {

struct StoredRow {
  std::string resource, ns, name, text;
  bool deleted = false;
};

// What survives a restart, and what the disk is told to do. Any thread.
class FakePlatter {
 public:
  std::map<Revision, StoredRow> rows() const {
    const std::lock_guard lock(mutex_);
    return rows_;
  }
  std::size_t row_count() const {
    const std::lock_guard lock(mutex_);
    return rows_.size();
  }
  std::vector<std::size_t> group_sizes() const {
    const std::lock_guard lock(mutex_);
    return group_sizes_;
  }
  // Every append and forget from now on fails like this, until told otherwise.
  void fail_with(std::optional<Error> error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  // Appends wait until release().
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      held_ = false;
    }
    changed_.notify_all();
  }
  void wait_until_an_append_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }
  // As after a restore from backup: history begins anew, further on.
  void jump_to(Revision base) {
    const std::lock_guard lock(mutex_);
    newest_ = base_ = base;
  }

 private:
  friend class FakeDisk;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Revision, StoredRow> rows_;
  std::map<std::string, Revision> floors_;
  std::vector<std::size_t> group_sizes_;
  std::optional<Error> error_;
  Revision base_ = kFirstRevision;
  Revision newest_ = kFirstRevision;
  bool held_ = false;
  int waiting_ = 0;
};

class FakeDisk final : public Durability {
 public:
  explicit FakeDisk(std::shared_ptr<FakePlatter> platter) : platter_(std::move(platter)) {}

  Result<Loaded> load(const std::function<void(const Record&)>& each) override {
    const std::lock_guard lock(platter_->mutex_);
    Loaded loaded{.newest = platter_->newest_, .base = platter_->base_};
    for (const auto& [revision, row] : platter_->rows_) {
      each({revision, row.resource, row.ns, row.name, row.text, row.deleted});
    }
    for (const auto& [resource, floor] : platter_->floors_)
      loaded.floors.push_back({resource, floor});
    return loaded;
  }

  Status append(std::span<const Record> group) override {
    std::unique_lock lock(platter_->mutex_);
    ++platter_->waiting_;
    platter_->changed_.notify_all();
    platter_->changed_.wait(lock, [&] { return !platter_->held_; });
    --platter_->waiting_;
    if (platter_->error_) return std::unexpected(*platter_->error_);
    for (const Record& r : group) {
      platter_->rows_[r.revision] = {std::string(r.resource), std::string(r.ns),
                                     std::string(r.name), std::string(r.text), r.deleted};
    }
    platter_->newest_ = group.back().revision;
    platter_->group_sizes_.push_back(group.size());
    return {};
  }

  Status forget(std::span<const Revision> revisions, std::span<const Floor> floors) override {
    const std::lock_guard lock(platter_->mutex_);
    if (platter_->error_) return std::unexpected(*platter_->error_);
    for (const Revision revision : revisions) platter_->rows_.erase(revision);
    for (const Floor& floor : floors) platter_->floors_[floor.resource] = floor.revision;
    return {};
  }

  Status backup(const std::string&) override {
    return fail(Code::kBadRequest, "a fake disk has no backup");
  }

 private:
  const std::shared_ptr<FakePlatter> platter_;
};

}  // namespace muster::store::testing
