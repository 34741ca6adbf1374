#include "store/commit_queue.h"

#include <fmt/format.h>

namespace muster::store {

CommitQueue::Size& CommitQueue::Size::operator+=(const Size& other) {
  writes += other.writes;
  bytes += other.bytes;
  return *this;
}

CommitQueue::Size& CommitQueue::Size::operator-=(const Size& other) {
  writes -= other.writes;
  bytes -= other.bytes;
  return *this;
}

CommitQueue::Size CommitQueue::size_of(const std::vector<Write>& list) {
  Size size;
  for (const Write& write : list) size += {1, write.head.size() + write.tail.size()};
  return size;
}

Status CommitQueue::check_list(const Size& size) const {
  if (size.writes > options_.max_list) {
    return fail(Code::kTooLarge, fmt::format("a list of {} writes is too long: at most {} can be "
                                             "done in one transaction",
                                             size.writes, options_.max_list));
  }
  if (size.bytes > options_.max_list_bytes) {
    return fail(Code::kTooLarge, fmt::format("a list of writes with {} bytes is too large: at most "
                                             "{} can be written in one transaction",
                                             size.bytes, options_.max_list_bytes));
  }
  return {};
}

Status CommitQueue::push(Pending& pending) {
  MUSTER_ASSERT(!pending.list.empty(), "a list without writes has nothing to wait for");
  const Size size = size_of(pending.list);
  MUSTER_CHECK(check_list(size));
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return fail(Code::kUnavailable, "the server is shutting down");
    if (size_.writes >= options_.max_queue || size_.bytes >= options_.max_queue_bytes) {
      Error error{.code = Code::kTooManyRequests,
                  .message = "too many writes are waiting, please try again later"};
      error.retry_after_seconds = 1;
      return std::unexpected(std::move(error));
    }
    size_ += size;
    waiting_.push_back({std::move(pending), size});
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
  Size group_size;
  while (!waiting_.empty()) {
    Size next = group_size;
    next += waiting_.front().size;
    const bool fits = next.writes <= options_.max_group && next.bytes <= options_.max_group_bytes;
    if (!fits && !group.empty()) break;
    group_size = next;
    group.push_back(std::move(waiting_.front().pending));
    waiting_.pop_front();
  }
  size_ -= group_size;
  return group;
}

bool CommitQueue::drained() const {
  const std::lock_guard lock(mutex_);
  return closed_ && waiting_.empty();
}

std::size_t CommitQueue::size() const {
  const std::lock_guard lock(mutex_);
  return size_.writes;
}

}  // namespace muster::store
