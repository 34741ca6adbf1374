#include "net/output_queue.h"

#include <algorithm>

#include "base/result.h"

namespace muster::net {
namespace {

// An idle connection keeps no more than this many empty places.
constexpr std::size_t kKeptPlaces = 16;

}  // namespace

void OutputQueue::push(http::Chunk chunk) {
  if (chunk.text.empty()) return;
  bytes_ += chunk.text.size();
  chunks_.push_back(std::move(chunk));
}

std::string_view OutputQueue::next(std::span<char> scratch) const {
  if (empty()) return {};
  const std::string_view front = chunks_[first_].text;
  if (front.size() >= scratch.size() || front.size() == bytes_) return front;
  std::size_t filled = 0;
  for (std::size_t i = first_; i < chunks_.size() && filled < scratch.size(); ++i) {
    filled += chunks_[i].text.copy(scratch.data() + filled, scratch.size() - filled);
  }
  return {scratch.data(), filled};
}

void OutputQueue::consume(std::size_t count) {
  MUSTER_ASSERT(count <= bytes_, "more was written than there was");
  bytes_ -= count;
  while (count > 0) {
    http::Chunk& front = chunks_[first_];
    const std::size_t step = std::min(count, front.text.size());
    front.text.remove_prefix(step);
    count -= step;
    if (front.text.empty()) {
      front.keep.reset();
      ++first_;
    }
  }
  if (empty()) {
    clear();
  } else if (first_ > kKeptPlaces && first_ > chunks_.size() / 2) {
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void OutputQueue::clear() {
  bytes_ = 0;
  first_ = 0;
  chunks_.clear();
  if (chunks_.capacity() > kKeptPlaces) chunks_.shrink_to_fit();
}

}  // namespace muster::net
