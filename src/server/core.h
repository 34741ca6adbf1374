// What all handlers of one server share. Internal to server/.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "api/openapi/discovery.h"
#include "api/openapi/openapi.h"
#include "base/byte_pool.h"
#include "base/rng.h"
#include "server/api_server.h"
#include "server/event_expiry.h"
#include "server/request_metrics.h"

namespace muster::server {

class Core {
 public:
  Core(store::Store& the_store, const api::Registry& the_registry, const Clock& the_clock,
       Metrics& the_metrics, Options the_options);

  store::Store& store;
  const api::Registry& registry;
  const Clock& clock;
  Metrics& metrics;
  const Options options;
  const api::Discovery discovery;
  const api::OpenApi open_api;
  // Kinds that exist as subresources only, for field tracking.
  const api::Resource scales;
  const api::Resource token_requests;

  // Any thread.
  std::string new_uid();
  std::string new_audit_id();  // from a source of its own: reads do not change which uids come next
  std::string name_suffix();
  std::uint64_t random_below(std::uint64_t bound);
  void set_not_ready(std::string why);
  std::string not_ready() const;
  void set_server_address(std::string address);
  std::string server_address() const;

  std::atomic<std::size_t> in_flight = 0;
  BytePool unsent;  // of answers, see Options::max_unsent_bytes
  RequestMetrics requests;
  EventExpiry event_expiry;

 private:
  mutable std::mutex mutex_;
  Rng rng_;
  Rng audit_rng_;
  std::string not_ready_;
  std::string server_address_;
};

}  // namespace muster::server
