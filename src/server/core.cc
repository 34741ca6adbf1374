#include "server/core.h"

namespace muster::server {

Core::Core(store::Store& the_store, const api::Registry& the_registry, const Clock& the_clock,
           Metrics& the_metrics, Options the_options)
    : store(the_store),
      registry(the_registry),
      clock(the_clock),
      metrics(the_metrics),
      options(std::move(the_options)),
      discovery(the_registry, options.server_address),
      rng_(options.seed) {}

std::string Core::new_uid() {
  const std::lock_guard lock(mutex_);
  return make_uid(rng_);
}

std::string Core::name_suffix() {
  const std::lock_guard lock(mutex_);
  return make_name_suffix(rng_);
}

std::uint64_t Core::random_below(std::uint64_t bound) {
  const std::lock_guard lock(mutex_);
  return rng_.below(bound);
}

void Core::set_not_ready(std::string why) {
  const std::lock_guard lock(mutex_);
  not_ready_ = std::move(why);
}

std::string Core::not_ready() const {
  const std::lock_guard lock(mutex_);
  return not_ready_;
}

}  // namespace muster::server
