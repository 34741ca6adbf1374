#include "net/worker.h"

#include <algorithm>
#include <future>

#include "base/log.h"
#include "net/connection.h"
#include "net/http_text.h"

namespace muster::net {
namespace {

// Silent connections that are closed at a time. To find them takes a look at all connections, which
// must not be paid again for each connection of a flood.
constexpr std::size_t kShedBatch = 64;

}  // namespace

Worker::Worker(ServerShared& shared, std::shared_ptr<Reactor> reactor)
    : shared_(shared), reactor_(std::move(reactor)) {
  reactor_->post([this] {
    timer_ = std::make_unique<Timer>(*reactor_);
    sweep();
  });
}

Worker::~Worker() = default;

void Worker::adopt(Accepted accepted) {
  reactor_->post([this, accepted = std::move(accepted)]() mutable {
    if (shared_.open_connections > shared_.options.limits.connections && shed() == 0) {
      if (shared_.refused_connections++ == 0) {
        log::warn("too many connections, refusing more",
                  {{"limit", shared_.options.limits.connections}});
      }
      return leave();
    }
    auto connection = std::make_shared<Connection>(*this, std::move(accepted));
    connection->place = connections_.size();
    connections_.push_back(connection);
    connection->start();
    if (draining_) connection->drain();
  });
}

void Worker::make_room() {
  reactor_->post([this] { shed(); });
}

// Returns how many were closed. None of them waits for an answer: what a silent peer holds is only
// its place, and it can come back.
std::size_t Worker::shed() {
  std::vector<std::shared_ptr<Connection>> silent;
  std::ranges::copy_if(connections_, std::back_inserter(silent), &Connection::can_be_shed);
  const std::size_t count = std::min(kShedBatch, (silent.size() + 1) / 2);
  std::ranges::nth_element(silent, silent.begin() + static_cast<std::ptrdiff_t>(count), {},
                           &Connection::last_turn);
  for (std::size_t i = 0; i < count; ++i) silent[i]->close();
  shared_.shed_connections += count;
  return count;
}

void Worker::drain() {
  reactor_->post([this] {
    draining_ = true;
    const auto all = connections_;  // the list shrinks on the way
    for (const auto& connection : all) connection->drain();
  });
}

void Worker::stop() {
  std::promise<void> closed;
  reactor_->post([&] {
    const auto all = connections_;
    for (const auto& connection : all) connection->close();
    timer_.reset();
    closed.set_value();
  });
  closed.get_future().wait();
  reactor_->stop();
}

Tick Worker::tick_after(Duration limit) const {
  // One more, because the present tick is partly over.
  return now_ + static_cast<Tick>((limit + shared_.tick - Duration(1)) / shared_.tick) + 1;
}

std::string_view Worker::date() {
  const auto second = std::chrono::floor<std::chrono::seconds>(shared_.options.clock->now());
  if (second != date_second_) {
    date_second_ = second;
    date_ = http_date(second);
  }
  return date_;
}

void Worker::forget(Connection& connection) {
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
  leave();
}

void Worker::leave() {
  if (--shared_.open_connections == 0) {
    const std::lock_guard lock(shared_.mutex);
    shared_.all_gone.notify_all();
  }
}

void Worker::sweep() {
  ++now_;
  for (std::size_t i = connections_.size(); i-- > 0;) {
    // Closing one moves the last one, which was already looked at, into its place.
    const auto connection = connections_[i];
    connection->expire_if_due(now_);
  }
  timer_->start(shared_.tick, [this] { sweep(); });
}

}  // namespace muster::net
