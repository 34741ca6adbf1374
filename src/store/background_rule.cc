#include "store/background_rule.h"

#include <utility>

#include "base/thread.h"

namespace muster::store {

void BackgroundRule::add(ObjectPtr object, std::string_view resource) {
  if (rule_ == nullptr) return;
  batch_.push_back({std::move(object), resource});
  if (batch_.size() == kBatch) hand_over();
}

std::string BackgroundRule::finish() {
  stop();
  judge(std::exchange(batch_, {}));
  return fault_;
}

void BackgroundRule::hand_over() {
  if (!thread_.joinable() && !threadless_) {
    auto started = start_thread([this] { run(); });
    threadless_ = !started;
    if (started) thread_ = *std::move(started);
  }
  if (threadless_) return judge(std::exchange(batch_, {}));
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::exchange(batch_, {}));
  }
  changed_.notify_one();
}

void BackgroundRule::judge(const Batch& batch) {
  for (const auto& [object, resource] : batch) {
    if (!fault_.empty()) return;
    fault_ = rule_({.revision = object->revision(),
                    .resource = resource,
                    .ns = object->ns(),
                    .name = object->name(),
                    .text = object->bytes()});
  }
}

void BackgroundRule::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::vector<Batch> batches = std::exchange(waiting_, {});
    lock.unlock();
    for (const Batch& batch : batches) judge(batch);
    lock.lock();
  }
}

void BackgroundRule::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace muster::store
