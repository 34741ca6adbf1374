#include "store/commit_queue.h"

namespace muster::store {
namespace {

std::size_t bytes_of(const CommitQueue::Pending& pending) {
  return pending.write.head.size() + pending.write.tail.size();
}

}  // namespace

Status CommitQueue::push(Pending& pending) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return fail(Code::kUnavailable, "the server is shutting down");
    if (waiting_.size() >= options_.max_queue || bytes_ >= options_.max_queue_bytes) {
      Error error{.code = Code::kTooManyRequests,
                  .message = "too many writes are waiting, please try again later"};
      error.retry_after_seconds = 1;
      return std::unexpected(std::move(error));
    }
    bytes_ += bytes_of(pending);
    waiting_.push_back(std::move(pending));
  }
  changed_.notify_one();
  return {};
}

void CommitQueue::nudge() {
  {
    const std::lock_guard lock(mutex_);
    nudged_ = true;
  }
  changed_.notify_one();
}

void CommitQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
}

std::vector<CommitQueue::Pending> CommitQueue::take(bool wait) {
  std::vector<Pending> group;
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return !waiting_.empty() || nudged_ || closed_; });
  nudged_ = false;
  std::size_t group_bytes = 0;
  while (!waiting_.empty() && group.size() < options_.max_group &&
         group_bytes < options_.max_group_bytes) {
    group_bytes += bytes_of(waiting_.front());
    group.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  bytes_ -= group_bytes;
  return group;
}

bool CommitQueue::drained() const {
  const std::lock_guard lock(mutex_);
  return closed_ && waiting_.empty();
}

std::size_t CommitQueue::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace muster::store
