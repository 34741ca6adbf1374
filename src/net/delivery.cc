#include "net/delivery.h"

#include <string>
#include <utility>

namespace muster::net {

void Deliveries::add(RequestId id, std::weak_ptr<Delivery> delivery) {
  const std::lock_guard lock(mutex_);
  under_way_.emplace(id, std::move(delivery));
}

void Deliveries::remove(RequestId id) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(id);
}

void Deliveries::cancel(RequestId id) {
  std::shared_ptr<Delivery> delivery;  // outlives the lock: its destructor takes it again
  const std::lock_guard lock(mutex_);
  const auto found = under_way_.find(id);
  if (found != under_way_.end()) delivery = found->second.lock();
  if (delivery) delivery->cancel();
}

std::shared_ptr<Delivery> Delivery::start(const std::shared_ptr<Deliveries>& all, RequestId id,
                                          ResponseEvents events, Options options) {
  std::shared_ptr<Delivery> delivery(new Delivery(all, id, std::move(events), std::move(options)));
  all->add(id, delivery);
  return delivery;
}

Delivery::Delivery(std::shared_ptr<Deliveries> all, RequestId id, ResponseEvents events,
                   Options options)
    : all_(std::move(all)), id_(id), events_(std::move(events)), options_(std::move(options)) {}

Delivery::~Delivery() { all_->remove(id_); }

void Delivery::head(ResponseHead head) {
  if (is_direct()) {
    if (!cancelled_ && events_.on_head) events_.on_head(std::move(head));
    return;
  }
  options_.post([self = shared_from_this(), head = std::move(head)]() mutable {
    if (!self->cancelled_ && self->events_.on_head) self->events_.on_head(std::move(head));
  });
}

void Delivery::data(std::string_view bytes) {
  if (is_direct()) {
    if (!cancelled_ && events_.on_data) events_.on_data(bytes);
    return;
  }
  pending_ += bytes.size();
  options_.post([self = shared_from_this(), text = std::string(bytes)] { self->take_in(text); });
}

void Delivery::take_in(std::string_view bytes) {
  if (!cancelled_ && events_.on_data) events_.on_data(bytes);
  const std::size_t before = pending_.fetch_sub(bytes.size());
  if (before > kMaxPending && before - bytes.size() <= kMaxPending) options_.resume();
}

void Delivery::end(Status status) {
  Task task = [self = shared_from_this(), status = std::move(status)]() mutable {
    if (!self->cancelled_.exchange(true) && self->events_.on_end) {
      self->events_.on_end(std::move(status));
    }
  };
  if (options_.post) {
    options_.post(std::move(task));
  } else {
    task();
  }
}

}  // namespace muster::net
