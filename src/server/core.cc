#include "server/core.h"

namespace muster::server {
namespace {

api::Resource bare_kind(const api::Registry& registry, api::GroupVersionKind gvk,
                        std::string_view type) {
  api::Resource out;
  out.gvk = std::move(gvk);
  out.schema = registry.type(type);
  MUSTER_ASSERT(out.schema != nullptr, "the types of subresources are in the data");
  return out;
}

}  // namespace

Core::Core(store::Store& the_store, const api::Registry& the_registry, const Clock& the_clock,
           Metrics& the_metrics, Options the_options)
    : store(the_store),
      registry(the_registry),
      clock(the_clock),
      metrics(the_metrics),
      options(std::move(the_options)),
      discovery(the_registry),
      open_api(the_registry),
      scales(bare_kind(the_registry, {"autoscaling", "v1", "Scale"},
                       "io.k8s.api.autoscaling.v1.Scale")),
      token_requests(bare_kind(the_registry, {"authentication.k8s.io", "v1", "TokenRequest"},
                               "io.k8s.api.authentication.v1.TokenRequest")),
      unsent({.total = options.max_unsent_bytes,
              .per_address = options.max_unsent_bytes,
              .per_identity = options.max_user_unsent_bytes,
              .patience = options.unsent_patience}),
      requests(the_metrics),
      rng_(options.seed),
      audit_rng_(~options.seed) {}

std::string Core::new_uid() {
  const std::lock_guard lock(mutex_);
  return make_uid(rng_);
}

std::string Core::new_audit_id() {
  const std::lock_guard lock(mutex_);
  return make_uid(audit_rng_);
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

void Core::set_server_address(std::string address) {
  const std::lock_guard lock(mutex_);
  server_address_ = std::move(address);
}

std::string Core::server_address() const {
  const std::lock_guard lock(mutex_);
  return server_address_;
}

std::string Core::not_ready() const {
  const std::lock_guard lock(mutex_);
  return not_ready_;
}

}  // namespace muster::server
