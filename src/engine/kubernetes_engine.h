// The Kubernetes engine: the same controllers and admission rules as the embedded one, against a
// real API server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "admission/feature_gates.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/kubeconfig.h"
#include "client/leader_election.h"
#include "controllers/runtime/barrier_program.h"
#include "controllers/runtime/job_limits.h"
#include "engine/listen_address.h"

namespace muster::engine {

struct KubernetesOptions {
  client::ServerConfig server;
  std::string ns;  // where this runs; webhooks do not look at it
  std::set<std::string, std::less<>> controllers;
  admission::FeatureGates gates;
  controllers::JobLimits job_limits = {};
  controllers::BarrierProgram barrier_program = {};
  bool elect_leader = true;
  // Of the lease. Namespace and name, if empty, are `ns` and upstream's: one of both leads.
  client::LeaderOptions lease = {.ns = {}, .name = {}, .identity = {}};

  std::optional<ListenAddress> webhooks;  // none: they are not served
  std::string webhook_url;              // how the API server reaches them; empty: by their address
  bool manage_webhooks = false;         // tell the API server of them
  std::string certificate_dir;          // empty: a new authority in every process
  std::optional<ListenAddress> health;  // /healthz, /readyz, /metrics; none: not served
};

class KubernetesEngine {
 public:
  // Listening when it returns. Everything else happens on loop(), which the caller runs.
  static Result<std::unique_ptr<KubernetesEngine>> start(KubernetesOptions options);
  virtual ~KubernetesEngine() = default;

  virtual Loop& loop() = 0;
  virtual const std::string& webhook_url() const = 0;  // empty if they are not served
  virtual const std::string& health_url() const = 0;   // likewise

  // Ends the controllers and gives the lease back, so that another can go on at once; then calls
  // `done`, on the loop, within seconds.
  virtual void stop(Task done) = 0;
};

}  // namespace muster::engine
