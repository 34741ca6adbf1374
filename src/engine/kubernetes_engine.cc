#include "engine/kubernetes_engine.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "api/schema/registry.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/paced_loop.h"
#include "base/rng.h"
#include "client/https.h"
#include "client/leader_election.h"
#include "client/leader_transport.h"
#include "controllers/set/controllers.h"
#include "engine/data_dir.h"
#include "json/write.h"
#include "net/http_server.h"
#include "net/url.h"
#include "webhooks/service.h"

namespace muster::engine {
namespace {

// A cluster answers within tens of milliseconds; to be woken for every answer and event costs more
// than a sixth of all processor time.
constexpr Duration kGather = std::chrono::milliseconds(10);
// Each costs a handshake of half a millisecond. With kGather they still carry 2,400 requests in a
// second, several times what controllers usually ask of an API server.
constexpr std::size_t kConnections = 24;
constexpr std::string_view kLease = "6d4f6a47.jobset.x-k8s.io";
constexpr Duration kRetry = std::chrono::seconds(2);
constexpr Duration kTrim = std::chrono::minutes(1);
constexpr Duration kGoodbye = std::chrono::seconds(5);  // for the lease to be given back
// An update's review holds the object twice, and more about who asks.
constexpr std::size_t kMaxReview = 8u << 20;

std::string identity() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return fmt::format("{}_{}_{:08x}", name.data(), ::getpid(),
                     Rng::from_system().next() & 0xFFFFFFFF);
}

void respond_text(http::Exchange& exchange, int status, std::string text) {
  http::Response response{.status = status,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"}}};
  response.body.push_back(http::Chunk::own(std::move(text)));
  exchange.respond(std::move(response));
}

class Operator final : public KubernetesEngine {
 public:
  explicit Operator(KubernetesOptions options) : options_(std::move(options)) {}

  ~Operator() override {
    controllers_ = nullptr;
    leader_client_ = nullptr;
    leader_transport_ = nullptr;
    election_ = nullptr;
    if (webhook_server_) webhook_server_->stop();
    if (health_server_) health_server_->stop();
  }

  Status start() {
    MUSTER_TRY(transport_,
               client::make_https_transport(*loop_, options_.server,
                                            {.gather = kGather, .max_connections = kConnections}));
    client_ = std::make_unique<client::Client>(*transport_, "muster");
    MUSTER_CHECK(open_certificate());
    MUSTER_CHECK(serve_webhooks());
    MUSTER_CHECK(serve_health());
    if (options_.manage_webhooks) {
      register_webhooks();
    } else {
      ready_ = true;
    }
    keep_heap_small();
    if (!options_.elect_leader) {
      start_controllers();
      return {};
    }
    client::LeaderOptions lease = options_.lease;
    if (lease.ns.empty()) lease.ns = options_.ns;
    if (lease.name.empty()) lease.name = kLease;
    lease.identity = identity();
    election_ = std::make_unique<client::LeaderElection>(
        *client_, registry_, std::move(lease), [this] { start_controllers(); },
        [this] { controllers_ = nullptr; });
    leader_transport_ = client::make_leader_transport(*transport_, *election_);
    leader_client_ = std::make_unique<client::Client>(*leader_transport_, "muster");
    election_->start();
    return {};
  }

  Loop& loop() override { return *loop_; }
  const std::string& webhook_url() const override { return webhook_url_; }
  const std::string& health_url() const override { return health_url_; }

  void stop(Task done) override {
    controllers_ = nullptr;
    if (!election_) return done();
    auto once = std::make_shared<Task>(std::move(done));
    const auto end = [once] {
      if (Task task = std::exchange(*once, {})) task();
    };
    loop_->after(kGoodbye, end);
    election_->release(end);
  }

 private:
  // Names by which the servers are called.
  Result<std::vector<std::string>> names() const {
    std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
    for (const auto& listen : {options_.webhooks, options_.health})
      if (listen && !listen->any()) names.push_back(listen->address);
    if (!options_.webhook_url.empty()) {
      MUSTER_TRY(const net::Url url, net::parse_url(options_.webhook_url));
      names.push_back(url.host);
    }
    return names;
  }

  Status open_certificate() {
    if (!options_.webhooks && !options_.health) return {};
    MUSTER_TRY(const auto all_names, names());
    MUSTER_TRY(certificate_,
               open_serving_certificate(options_.certificate_dir, all_names, real_clock()));
    return {};
  }

  Result<std::unique_ptr<net::HttpServer>> listen(const ListenAddress& at, http::Handler handler) {
    net::ServerOptions server;
    server.address = at.address;
    server.port = at.port;
    server.certificate_pem = certificate_.server.certificate_pem;
    server.private_key_pem = certificate_.server.private_key_pem;
    server.threads = 1;
    server.limits.body_bytes = kMaxReview;
    return net::HttpServer::start(std::move(server), std::move(handler));
  }

  static std::string url_of(const ListenAddress& at, std::uint16_t port) {
    return client::https_url(at.any() ? "127.0.0.1" : at.address, std::to_string(port));
  }

  Status serve_webhooks() {
    if (!options_.webhooks) return {};
    webhooks_ = std::make_unique<webhooks::Service>(
        *client_, metrics_, webhooks::Settings{.registry = registry_, .gates = options_.gates});
    MUSTER_TRY(webhook_server_,
               listen(*options_.webhooks, [this](auto exchange) { webhooks_->handle(exchange); }));
    webhook_url_ = options_.webhook_url.empty()
                       ? url_of(*options_.webhooks, webhook_server_->port())
                       : options_.webhook_url;
    return {};
  }

  Status serve_health() {
    if (!options_.health) return {};
    MUSTER_TRY(health_server_,
               listen(*options_.health, [this](auto exchange) { answer_health(*exchange); }));
    health_url_ = url_of(*options_.health, health_server_->port());
    return {};
  }

  // On the server's thread.
  void answer_health(http::Exchange& exchange) const {
    const std::string_view target = exchange.request().target;
    const std::string_view path = target.substr(0, target.find('?'));
    if (path == "/metrics") return respond_text(exchange, 200, metrics_.text());
    if (path == "/healthz" || (path == "/readyz" && ready_))
      return respond_text(exchange, 200, "ok");
    if (path == "/readyz")
      return respond_text(exchange, 500, "the API server does not know the webhooks yet\n");
    respond_text(exchange, 404, "404 page not found\n");
  }

  // Until both are there: an API server that cannot be reached now is reached later.
  void register_webhooks() {
    json::Arena arena;
    auto missing = std::make_shared<int>(0);
    for (const json::Value configuration : webhooks::configurations(
             arena, {.url = webhook_url_, .ca_pem = certificate_.ca_pem, .ns = options_.ns})) {
      const api::Resource* resource = registry_.find_kind(
          configuration.get("apiVersion").as_string(), configuration.get("kind").as_string());
      MUSTER_ASSERT(resource != nullptr, "webhook configurations are a known kind");
      ++*missing;
      client_->write({.verb = client::Verb::kPatch,
                      .resource = resource,
                      .name = std::string(configuration.get({"metadata", "name"}).as_string()),
                      .body = json::write(configuration),
                      .patch_type = client::PatchType::kApply,
                      .force = true},
                     [this, missing](const Result<std::string>& answer) {
                       if (!answer) return register_again(answer.error());
                       if (--*missing == 0) ready_ = true;
                     });
    }
  }

  void register_again(const Error& error) {
    log::warn("cannot register the webhooks", {{"error", error.message}});
    if (std::exchange(registering_again_, true)) return;
    loop_->after(kRetry, [this] {
      registering_again_ = false;
      register_webhooks();
    });
  }

  // A plan for thousands of Jobs leaves a heap that is mostly holes.
  void keep_heap_small() {
    ::malloc_trim(0);
    loop_->after(kTrim, [this] { keep_heap_small(); });
  }

  void start_controllers() {
    client::Client& client = leader_client_ ? *leader_client_ : *client_;
    controllers_ = controllers::ControllerSet::make(client, registry_, metrics_,
                                                    {.wanted = options_.controllers,
                                                     .gates = options_.gates,
                                                     .barrier_program = options_.barrier_program,
                                                     .job_limits = options_.job_limits});
  }

  // In the order in which one needs the other; what is left in the loop goes last.
  KubernetesOptions options_;
  const api::Registry& registry_ = api::Registry::builtin();
  std::unique_ptr<Loop> loop_ = make_paced_loop(kGather);
  Metrics metrics_;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  ServingCertificate certificate_;
  std::unique_ptr<webhooks::Service> webhooks_;
  std::unique_ptr<net::HttpServer> webhook_server_;
  std::unique_ptr<net::HttpServer> health_server_;
  std::string webhook_url_;
  std::string health_url_;
  std::atomic<bool> ready_ = false;
  bool registering_again_ = false;
  std::unique_ptr<client::LeaderElection> election_;
  std::unique_ptr<client::Transport> leader_transport_;
  std::unique_ptr<client::Client> leader_client_;
  std::unique_ptr<controllers::ControllerSet> controllers_;
};

}  // namespace

Result<std::unique_ptr<KubernetesEngine>> KubernetesEngine::start(KubernetesOptions options) {
  auto engine = std::make_unique<Operator>(std::move(options));
  MUSTER_CHECK(engine->start());
  return engine;
}

}  // namespace muster::engine
