#include "agent/disposal.h"

#include <filesystem>

#include "agent/inputs/volumes.h"
#include "base/contained_path.h"
#include "base/log.h"
#include "base/thread.h"

namespace muster::agent {
namespace {

Status remove_folder(const std::string& directory) {
  std::error_code failed;
  std::filesystem::remove_all(directory, failed);
  if (failed) return fail(Code::kInternal, failed.message());
  return {};
}

}  // namespace

Disposal::~Disposal() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Disposal::remove_pod(std::string directory) {
  add(directory, [directory]() -> Status {
    std::error_code failed;
    if (!std::filesystem::exists(directory, failed)) return {};
    MUSTER_CHECK(remove_volumes(directory));
    return remove_folder(directory);
  });
}

void Disposal::remove_logs(std::string directory) {
  add(directory, [directory] { return remove_folder(directory); });
}

void Disposal::remove_claim(std::string directory) {
  add(directory, [directory] { return remove_claim_data(directory); });
}

void Disposal::remove_tree(std::string directory) {
  add(directory, [path = std::filesystem::path(directory)]() -> Status {
    MUSTER_TRY(const UniqueFd parent, open_folder(path.parent_path()));
    return remove_beneath(parent.get(), path.filename());
  });
}

void Disposal::add(std::string what, std::function<Status()> remove) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == kMaxWaiting) return;
    waiting_.push_back({std::move(what), std::move(remove)});
  }
  if (thread_.joinable()) return changed_.notify_one();
  auto started = start_thread([this] { work(); });
  if (!started)
    return log::warn("folders of pods and claims wait", {{"error", started.error().message}});
  thread_ = *std::move(started);
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
    if (const Status removed = item.remove(); !removed)
      log::warn("cannot remove what a pod or a claim left",
                {{"what", item.what}, {"error", removed.error().message}});
  }
}

}  // namespace muster::agent
