// The store as others see it: a queue in front of the committer, and a thread that moves between
// them.
#include "store/store.h"

#include <fmt/format.h>

#include "base/thread.h"
#include "store/committer.h"
#include "store/object_text.h"
#include "store/open_store.h"

namespace muster::store {
namespace {

class ThreadedStore final : public Store {
 public:
  ThreadedStore(std::unique_ptr<Committer> committer, const Options& options)
      : options_(options), queue_(options), committer_(std::move(committer)) {}

  Status start() {
    if (options_.commit_inline) return {};
    MUSTER_TRY(thread_, start_thread([this] { run(); }));
    return {};
  }

  ~ThreadedStore() override { stop(); }

  void stop() override {
    queue_.close();
    if (thread_.joinable()) thread_.join();
  }

  void submit(std::vector<Write> list, ListDone done) override {
    if (list.empty()) return done(std::vector<ObjectPtr>());
    CommitQueue::Pending pending{std::move(list), std::move(done)};
    if (Status pushed = queue_.push(pending); !pushed) {
      pending.done(std::unexpected(ListError{std::move(pushed).error(), std::nullopt}));
    } else if (options_.commit_inline) {
      run_inline();
    }
  }

  SnapshotPtr snapshot() const override { return committer_->newest().get(); }

  Result<SnapshotPtr> snapshot_at(int resource, Revision revision) const override {
    const auto newest = committer_->newest().get();
    if (revision == newest->revision()) return newest;
    if (revision > newest->revision()) return too_large(revision, newest->revision());
    MUSTER_TRY(ObjectMap map, committer_->log(resource).as_of(revision, newest->map(resource),
                                                              newest->revision()));
    return std::make_shared<const State>(revision, resource, std::move(map));
  }

  using Store::watch;
  Result<std::unique_ptr<Subscription>> watch(std::vector<int> resources, Revision after,
                                              std::function<void()> wake) override {
    return committer_->watch(resources, after, std::move(wake));
  }

  Revision oldest(int resource) const override { return committer_->log(resource).floor(); }

  void compact() override {
    committer_->compact();
    if (options_.commit_inline) {
      run_inline();
    } else {
      queue_.nudge();
    }
  }

  Status backup(const std::string& file) override { return committer_->backup(file); }
  std::string trouble() const override { return committer_->trouble(); }

 private:
  static std::unexpected<Error> too_large(Revision wanted, Revision newest) {
    Error error{.code = Code::kTimeout,
                .message = fmt::format("Timeout: Too large resource version: {}, current: {}",
                                       wanted, newest)};
    error.causes.push_back({.reason = "ResourceVersionTooLarge",
                            .message = "Too large resource version",
                            .field = ""});
    error.retry_after_seconds = 1;
    return std::unexpected(std::move(error));
  }

  void run() {
    while (true) {
      auto group = queue_.take(/*wait=*/!committer_->wants_tidying(Committer::Tidy::kWhenIdle));
      if (group.empty() && queue_.drained()) return;
      step(std::move(group));
    }
  }

  // A callback may submit again: that write is taken up by the loop that is already running.
  void run_inline() {
    if (running_) return;
    running_ = true;
    do {
      step(queue_.take(/*wait=*/false));
    } while (queue_.size() > 0 || committer_->wants_tidying(Committer::Tidy::kWhenIdle));
    running_ = false;
  }

  void step(std::vector<CommitQueue::Pending> group) {
    const bool idle = group.empty();
    if (!idle) committer_->commit(std::move(group), queue_.size());
    const auto when = idle ? Committer::Tidy::kWhenIdle : Committer::Tidy::kUrgent;
    if (committer_->wants_tidying(when)) committer_->tidy(when);
  }

  const Options options_;
  CommitQueue queue_;
  const std::unique_ptr<Committer> committer_;
  bool running_ = false;
  std::thread thread_;
};

}  // namespace

void Store::submit(Write write, Done done) {
  std::vector<Write> list;
  list.push_back(std::move(write));
  submit(std::move(list), [done = std::move(done)](ListResult written) mutable {
    if (!written) return done(std::unexpected(std::move(written).error().error));
    done(std::move(written->front()));
  });
}

Result<std::unique_ptr<Store>> open_store(std::unique_ptr<Durability> disk,
                                          std::vector<ResourceName> names, const Clock& clock,
                                          Metrics& metrics, const Options& options,
                                          RecordRule rule) {
  MUSTER_TRY(LoadedStore loaded, load_store(*disk, names, clock.now(), options, rule));
  auto committer = std::make_unique<Committer>(std::move(disk), std::move(names), std::move(loaded),
                                               clock, metrics);
  auto store = std::make_unique<ThreadedStore>(std::move(committer), options);
  MUSTER_CHECK(store->start());
  return store;
}

Result<std::unique_ptr<Store>> Store::open(std::unique_ptr<Durability> disk,
                                           const api::Registry& registry, const Clock& clock,
                                           Metrics& metrics, Options options) {
  std::vector<ResourceName> names(static_cast<std::size_t>(registry.storage_count()));
  for (const api::Resource* resource : registry.resources()) {
    if (resource->storage != resource) continue;
    names[static_cast<std::size_t>(resource->id)] = {resource->gvk.group, resource->plural};
  }
  return open_store(std::move(disk), std::move(names), clock, metrics, options, fault_in_text);
}

}  // namespace muster::store
