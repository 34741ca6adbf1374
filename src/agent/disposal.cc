#include "agent/disposal.h"

#include <filesystem>

#include "agent/inputs/volumes.h"
#include "base/log.h"

namespace muster::agent {

Disposal::Disposal() : thread_([this] { work(); }) {}

Disposal::~Disposal() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Disposal::remove_pod(std::string directory) { add({std::move(directory), true}); }
void Disposal::remove_logs(std::string directory) { add({std::move(directory), false}); }

void Disposal::add(Item item) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == kMaxWaiting) return;
    waiting_.push_back(std::move(item));
  }
  changed_.notify_one();
}

void Disposal::work() {
  while (true) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      item = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (item.pod) remove_volumes(item.directory);
    std::error_code failed;
    std::filesystem::remove_all(item.directory, failed);
    if (failed)
      log::warn("cannot remove what a pod left",
                {{"directory", item.directory}, {"error", failed.message()}});
  }
}

}  // namespace muster::agent
