#include "engine/engine.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "agent/logs/log_reader.h"
#include "agent/paths.h"
#include "base/loop_thread.h"
#include "base/metrics.h"
#include "base/rng.h"
#include "client/kubeconfig.h"
#include "controllers/set/controllers.h"
#include "engine/certificate_renewal.h"
#include "engine/data_dir.h"
#include "engine/heap_trim.h"
#include "engine/listen_address.h"
#include "engine/local_node.h"
#include "engine/machine_ports.h"
#include "engine/open_files.h"
#include "net/http_server.h"
#include "server/api_server.h"
#include "server/bootstrap.h"
#include "store/data_directory.h"
#include "store/durability.h"
#include "store/store.h"

namespace muster::engine {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name[0] == '\0' ? "localhost" : name.data();
}

// What runs on the control loop.
class Control {
 public:
  Control(client::Transport& transport, Metrics& metrics, const EngineOptions& options)
      : client_(transport, "muster"),
        controllers_(controllers::ControllerSet::make(
            client_, api::Registry::builtin(), metrics,
            {.wanted = options.controllers,
             .gates = options.gates,
             .job_limits = options.job_limits,
             .pod_limits = options.pod_limits,
             .port_is_free = options.controllers.contains("agent") ? ports_of_this_machine()
                                                                   : controllers::PortIsFree()})) {}

 private:
  client::Client client_;
  std::unique_ptr<controllers::ControllerSet> controllers_;
};

class EmbeddedEngine final : public Engine {
 public:
  explicit EmbeddedEngine(EngineOptions options) : options_(std::move(options)) {}

  ~EmbeddedEngine() override {
    node_ = nullptr;  // processes end first: their last words still find a server
    control_ = nullptr;
    if (http_) http_->stop();
    requests_.stop();
    if (store_) store_->stop();  // its callbacks still post to the loop
  }

  Status start() {
    // Keys are in our memory: no dump of it, no debugger, and no pod of the same user looks into
    // it.
    ::prctl(PR_SET_DUMPABLE, 0);
    MUSTER_CHECK(make_data_dir(options_.data_dir));
    MUSTER_TRY(auto disk, open_durability());
    MUSTER_TRY(const Credentials credentials,
               open_credentials(options_.data_dir, names(), real_clock()));
    MUSTER_TRY(store_, store::Store::open(std::move(disk), api::Registry::builtin(), real_clock(),
                                          metrics_));
    MUSTER_CHECK(logs_->start());
    programs_ = std::make_unique<agent::PodPrograms>(*loop_, logs_->reader());
    start_server(credentials);
    MUSTER_CHECK(requests_.start());
    MUSTER_CHECK(server::bootstrap(*api_));
    MUSTER_CHECK(listen(credentials));
    renewal_.emplace(
        *loop_, credentials,
        CertificateRenewal::Actions{
            .open = [this] { return open_credentials(options_.data_dir, names(), real_clock()); },
            .put_to_use = [this](const Credentials& renewed) -> Status {
              MUSTER_CHECK(http_->renew(renewed.server, renewed.ca_pem));
              return tell_clients(renewed);
            }});
    keep_heap_small(*loop_);
    control_ = std::make_unique<Control>(*transport_, metrics_, options_);
    if (!options_.controllers.contains("agent")) return {};
    MUSTER_TRY(node_, LocalNode::start(*loop_, *transport_, logs_->reader(), *programs_,
                                       {.data_dir = options_.data_dir,
                                        .nodes = options_.nodes,
                                        .pods = options_.pods,
                                        .leave_nothing = options_.leave_nothing,
                                        .ca_pem = credentials.ca_pem,
                                        .api_host = host(),
                                        .api_port = http_->port()}));
    return {};
  }

  Loop& loop() override { return *loop_; }
  const std::string& url() const override { return url_; }
  const std::string& kubeconfig_file() const override { return options_.kubeconfig_file; }
  client::Transport& transport() override { return *transport_; }

 private:
  // Locks the directory, so that two servers that start at once do not mix their keys.
  Result<std::unique_ptr<store::Durability>> open_durability() {
    if (options_.keep_objects) return store::open_sqlite(options_.data_dir);
    MUSTER_TRY(auto directory, store::DataDirectory::lock(
                                   options_.data_dir, store::DataDirectory::Folder::kHeldByCaller));
    directory_.emplace(std::move(directory));
    return store::make_memory_durability();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names = {"localhost", "127.0.0.1", "::1", host_name()};
    if (options_.address != "0.0.0.0" && options_.address != "::")
      names.push_back(options_.address);
    names.insert(names.end(), options_.names.begin(), options_.names.end());
    return names;
  }

  // As clients on this machine reach it.
  std::string host() const {
    const bool any = options_.address == "0.0.0.0" || options_.address == "::";
    return any ? "127.0.0.1" : options_.address;
  }

  void start_server(const Credentials& credentials) {
    server::Options options;
    for (const auto& token : credentials.tokens) {
      options.tokens.push_back(
          {token.token, {.name = token.user, .uid = {}, .groups = {token.group}, .extra = {}}});
    }
    options.seed = Rng::from_system().next();
    options.gates = options_.gates;
    options.logs = &logs_->reader();
    options.programs = programs_.get();
    options.sign_token = [key = credentials.token_key](std::string_view text) {
      return net::hmac_sha256(key, text);
    };
    api_ = std::make_unique<server::ApiServer>(*store_, api::Registry::builtin(), real_clock(),
                                               metrics_, std::move(options));
    transport_ = client::make_in_process_transport(
        *loop_,
        [this](std::shared_ptr<http::Exchange> exchange) {
          requests_.loop().post([this, exchange = std::move(exchange)]() mutable {
            api_->handle_as(std::move(exchange), server::master("muster"));
          });
        },
        store_.get());
  }

  // Where the last server of this directory was, as its kubeconfig tells: clients that are still
  // there, and copies of that file, find this one at the same place. 0 if there was none.
  std::uint16_t former_port() const {
    const auto last = client::load_kubeconfig(options_.data_dir + "/kubeconfig");
    const auto address = last ? parse_listen(last->url.substr(last->url.rfind('/') + 1))
                              : Result<ListenAddress>(ListenAddress{});
    return address ? address->port : std::uint16_t{0};
  }

  Result<std::unique_ptr<net::HttpServer>> start_http(net::ServerOptions options) {
    const auto handler = [this](auto exchange) { api_->handle(std::move(exchange)); };
    if (const std::uint16_t port = former_port(); options.port == 0 && port != 0) {
      net::ServerOptions again = options;
      again.port = port;
      if (auto server = net::HttpServer::start(std::move(again), handler)) return server;
    }
    return net::HttpServer::start(std::move(options), handler);
  }

  Status listen(const Credentials& credentials) {
    net::ServerOptions options;
    options.address = options_.address;
    options.port = options_.port;
    options.certificate_pem = credentials.server.certificate_pem;
    options.private_key_pem = credentials.server.private_key_pem;
    options.client_ca_pem = credentials.ca_pem;
    options.allowed_hosts = names();
    options.check_header = [this](const http::Request& header) {
      return api_->check_header(header);
    };
    MUSTER_TRY(http_, start_http(std::move(options)));
    url_ = client::https_url(host(), std::to_string(http_->port()));
    api_->set_server_address(url_.substr(std::string_view("https://").size()));
    return tell_clients(credentials);
  }

  // Writes the kubeconfig into the data directory, where `muster get --data-dir` finds it, and to
  // the file that was asked for.
  Status tell_clients(const Credentials& credentials) {
    const std::string own = options_.data_dir + "/kubeconfig", text = kubeconfig(credentials, url_);
    if (options_.kubeconfig_file.empty()) options_.kubeconfig_file = own;
    MUSTER_CHECK(write_private_file(own, text));
    return options_.kubeconfig_file == own ? Status()
                                           : write_private_file(options_.kubeconfig_file, text);
  }

  // In the order in which one needs the other: tasks that are left in the loop still hold requests,
  // so the loop goes before what answers them.
  EngineOptions options_;
  std::optional<store::DataDirectory> directory_;  // without objects on disk
  Metrics metrics_;
  std::unique_ptr<agent::LogThread> logs_ = std::make_unique<agent::LogThread>(
      agent::LogReader::Options{.directory = agent::Paths{options_.data_dir}.logs(),
                                .runs_are_known = !options_.controllers.contains("agent")});
  std::unique_ptr<agent::PodPrograms> programs_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<server::ApiServer> api_;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<Loop> loop_ = make_real_loop();
  // Decoding and admission of the requests that controllers and the agent send: half of the control
  // thread's work otherwise. One thread, so that they are handled in the order in which they were
  // sent.
  LoopThread requests_;
  std::unique_ptr<net::HttpServer> http_;
  std::string url_;
  std::optional<CertificateRenewal> renewal_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<LocalNode> node_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(EngineOptions options) {
  auto engine = std::make_unique<EmbeddedEngine>(std::move(options));
  MUSTER_CHECK(engine->start());
  allow_many_files();  // us, not the pods, whose keeper has been started
  return engine;
}

}  // namespace muster::engine
