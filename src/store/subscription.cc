#include "store/subscription.h"

#include <algorithm>

namespace muster::store {
namespace {

class MergedReader final : public Subscription {
 public:
  MergedReader(std::vector<std::shared_ptr<WatchLog>> logs, std::shared_ptr<const Newest> newest,
               Revision after, std::shared_ptr<Doorbell> doorbell)
      : logs_(std::move(logs)),
        newest_(std::move(newest)),
        position_(after),
        doorbell_(std::move(doorbell)) {}

  ~MergedReader() override {
    for (const auto& log : logs_) log->take_down(*doorbell_);
  }

  Result<std::vector<Event>> poll(std::size_t max) override {
    // Armed before looking: what is published after the look finds it armed, and rings.
    doorbell_->armed.store(true);
    // Taken before the logs are read: every event up to here is in its log by now.
    const Revision visible = newest_->revision();
    std::vector<Event> events;
    Revision complete = std::max(position_, visible);
    for (const auto& log : logs_) {
      MUSTER_TRY(const Revision read, log->read(position_, visible, max, events));
      complete = std::min(complete, read);
    }
    if (logs_.size() > 1) {
      // What another log has not shown yet may come before the rest.
      std::erase_if(events, [&](const Event& event) { return event.revision > complete; });
      std::ranges::sort(events, {}, &Event::revision);
      if (events.size() > max) {
        events.resize(max);
        complete = events.empty() ? position_ : events.back().revision;
      }
    }
    position_ = complete;
    return events;
  }

  Revision position() const override { return position_; }

 private:
  const std::vector<std::shared_ptr<WatchLog>> logs_;
  const std::shared_ptr<const Newest> newest_;
  Revision position_;
  const std::shared_ptr<Doorbell> doorbell_;
};

}  // namespace

Result<std::unique_ptr<Subscription>> subscribe(std::vector<std::shared_ptr<WatchLog>> logs,
                                                std::shared_ptr<const Newest> newest,
                                                Revision after, std::function<void()> wake) {
  auto doorbell = std::make_shared<Doorbell>(std::move(wake));
  auto reader = std::make_unique<MergedReader>(logs, std::move(newest), after, doorbell);
  for (const auto& log : logs) MUSTER_CHECK(log->hang(doorbell, after));
  return reader;
}

}  // namespace muster::store
