// `muster operator` and `muster install`: muster on a Kubernetes cluster.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "api/schema/registry.h"
#include "cli/follow/signals.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "engine/controller_list.h"
#include "engine/data_dir.h"
#include "engine/install_manifests.h"
#include "engine/kubernetes_engine.h"
#include "engine/manager_config.h"

namespace muster::cli {
namespace {

struct OperatorOptions {
  std::string kubeconfig;  // empty: the cluster in which this is a pod
  std::string context;
  std::string ns;
  std::string controllers = "jobset";
  std::string feature_gates;
  std::string config_file;
  bool leader_elect = true;
  std::string webhook_listen;
  std::string webhook_url;
  bool manage_webhooks = false;
  std::string data_dir;
  std::string health_listen;
  bool allow_remote = false;
  controllers::BarrierProgram barrier;
  controllers::JobLimits job_limits;
  std::string barrier_command;
};

struct InstallOptions {
  bool print = false;
  std::string ns;
  std::string webhook_url;
  std::string webhook_ca;  // a file
};

Result<client::ServerConfig> server_config(const OperatorOptions& options) {
  if (!options.kubeconfig.empty())
    return client::load_kubeconfig(options.kubeconfig, options.context);
  const char* const host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* const port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    return fail(Code::kInvalid,
                "--kubeconfig is missing, and this is not a pod of a cluster: say which API server "
                "to work for");
  }
  return client::in_cluster_config(host, port);
}

// An address that others can reach needs to be meant (S1).
Result<std::optional<engine::ListenAddress>> listen_address(const std::string& text,
                                                            std::string_view flag,
                                                            bool allow_remote) {
  if (text.empty()) return std::nullopt;
  MUSTER_TRY(engine::ListenAddress listen, engine::parse_listen(text, flag));
  if (!listen.loopback() && !allow_remote) {
    return fail(Code::kForbidden,
                fmt::format("{}: {} can be reached from other machines; if that is meant, add "
                            "--allow-remote",
                            flag, listen.address));
  }
  return listen;
}

// Where the pod runs, if this is one.
std::string own_namespace(const OperatorOptions& options, const client::ServerConfig& server) {
  if (!options.ns.empty()) return options.ns;
  return options.kubeconfig.empty() ? server.ns : std::string(engine::kOperatorNamespace);
}

// Flags win over the file.
Status take_config(OperatorOptions& options, engine::KubernetesOptions& engine) {
  if (options.config_file.empty()) return {};
  MUSTER_TRY(const std::string text, engine::read_file(options.config_file));
  auto config = engine::parse_manager_config(text);
  if (!config)
    return fail(Code::kInvalid, fmt::format("{}: {}", options.config_file, config.error().message));
  if (options.webhook_listen.empty()) options.webhook_listen = config->webhook_listen.value_or("");
  if (options.health_listen.empty()) options.health_listen = config->health_listen.value_or("");
  engine.elect_leader = engine.elect_leader && config->leader_elect.value_or(true);
  engine.lease.name = config->lease_name;
  engine.lease.ns = config->lease_namespace;
  engine.lease.lease = config->lease_duration.value_or(engine.lease.lease);
  engine.lease.renew = config->renew_deadline.value_or(engine.lease.renew);
  engine.lease.retry = config->retry_period.value_or(engine.lease.retry);
  return engine.gates.set(config->feature_gates);
}

Result<engine::KubernetesOptions> engine_options(OperatorOptions options) {
  engine::KubernetesOptions engine{.server = {},
                                   .ns = {},
                                   .controllers = {},
                                   .gates = {},
                                   .job_limits = options.job_limits,
                                   .barrier_program = options.barrier,
                                   .elect_leader = options.leader_elect,
                                   .webhook_url = options.webhook_url,
                                   .manage_webhooks = options.manage_webhooks,
                                   .certificate_dir = options.data_dir};
  // Upstream restarts at once, and its users expect that on a cluster.
  MUSTER_CHECK(engine.gates.set("RestartBackoff=false"));
  MUSTER_CHECK(take_config(options, engine));
  MUSTER_TRY(engine.server, server_config(options));
  engine.ns = own_namespace(options, engine.server);
  MUSTER_TRY(engine.controllers, engine::parse_controllers(options.controllers));
  if (engine.controllers.contains("agent"))
    return fail(Code::kInvalid, "--controllers: the agent belongs to `muster serve`");
  MUSTER_CHECK(engine.gates.set(options.feature_gates));
  if (!options.barrier_command.empty())
    engine.barrier_program.command = {"sh", "-c", options.barrier_command};
  const bool any_port = options.webhook_listen.empty() && options.manage_webhooks;
  MUSTER_TRY(engine.webhooks, listen_address(any_port ? "127.0.0.1:0" : options.webhook_listen,
                                             "--webhook-listen", options.allow_remote));
  MUSTER_TRY(engine.health,
             listen_address(options.health_listen, "--health-listen", options.allow_remote));
  return engine;
}

void greet(const std::string& server, const engine::KubernetesEngine& engine) {
  fmt::print("muster operates {}", server);
  if (!engine.webhook_url().empty()) fmt::print(", webhooks at {}", engine.webhook_url());
  if (!engine.health_url().empty()) fmt::print(", health at {}", engine.health_url());
  fmt::print("\n");
  std::fflush(stdout);
}

int run_operator(const OperatorOptions& options) {
  auto engine_or = engine_options(options);
  if (!engine_or) return complain(engine_or.error(), kUsage);
  const std::string server = engine_or->server.url;
  Signals signals;
  auto engine = engine::KubernetesEngine::start(*std::move(engine_or));
  if (!engine) return complain(engine.error(), kRefused);
  Loop& loop = (*engine)->loop();
  bool stopping = false;
  signals.on_signal(loop, [&](int) {
    if (std::exchange(stopping, true)) return loop.stop();  // the second one does not wait
    (*engine)->stop([&] { loop.stop(); });
  });
  greet(server, **engine);
  loop.run();
  return kSucceeded;
}

int install(const InstallOptions& options) {
  if (!options.print) {
    return complain(Error{.code = Code::kInvalid,
                          .message = "only --print is there: muster install --print | kubectl "
                                     "apply --server-side -f -"},
                    kUsage);
  }
  engine::InstallSettings settings{.webhook_url = options.webhook_url, .webhook_ca_pem = {}};
  if (!options.ns.empty()) settings.ns = options.ns;
  if (options.webhook_url.empty() != options.webhook_ca.empty()) {
    return complain(
        Error{.code = Code::kInvalid, .message = "--webhook-url and --webhook-ca belong together"},
        kUsage);
  }
  if (!options.webhook_ca.empty()) {
    auto ca = engine::read_file(options.webhook_ca);
    if (!ca) return complain(ca.error(), kUsage);
    settings.webhook_ca_pem = *std::move(ca);
  }
  fmt::print("{}", engine::install_yaml(api::Registry::builtin(), settings));
  return kSucceeded;
}

}  // namespace

Verb operator_verb() {
  const auto o = std::make_shared<OperatorOptions>();
  return {
      .name = "operator",
      .group = "Operate",
      .help = "Run the controllers and webhooks for a Kubernetes cluster",
      .flags =
          {{"--kubeconfig", &o->kubeconfig,
            "How to reach the API server [as a pod of the cluster]"},
           {"--context", &o->context, "Of the kubeconfig [its current one]"},
           {"-n,--namespace", &o->ns, "Where the lease is [the pod's, or jobset-system]"},
           {"--controllers", &o->controllers, "Names, as for serve"},
           {"--feature-gates", &o->feature_gates, "A=true,B=false"},
           {"--waiting-jobs-of-set", &o->job_limits.waiting_of_set,
            "The most Jobs of a JobSet that are created and have not started"},
           {"--waiting-jobs", &o->job_limits.waiting_of_all,
            "The same of all JobSets that have more than a thousand of them"},
           {"--config", &o->config_file, "The upstream manager's configuration file; flags win"},
           {"--leader-elect,!--no-leader-elect", &o->leader_elect,
            "Work only while holding the lease [on]"},
           {"--webhook-listen", &o->webhook_listen,
            "ADDRESS:PORT to serve admission webhooks at [none]"},
           {"--webhook-url", &o->webhook_url,
            "How the API server reaches the webhooks [https:// and that address]"},
           {"--manage-webhooks", &o->manage_webhooks,
            "Tell the API server of the webhooks and their authority"},
           {"--data-dir", &o->data_dir,
            "Keep the webhooks' authority here [a new one in every process]"},
           {"--health-listen", &o->health_listen,
            "ADDRESS:PORT for /healthz, /readyz and /metrics [none]"},
           {"--barrier-image", &o->barrier.image,
            "Of the container in which pods of a group wait for each other [bash]"},
           {"--barrier-command", &o->barrier_command, "What it runs, for sh -c [KEP-498's loop]"},
           {"--allow-remote", &o->allow_remote, "Allow addresses that other machines can reach"}},
      .run = [o] { return run_operator(*o); }};
}

Verb install_verb() {
  const auto o = std::make_shared<InstallOptions>();
  return {
      .name = "install",
      .group = "Operate",
      .help = "What a cluster needs before `muster operator` works there",
      .flags = {{"--print", &o->print, "Print it as YAML, for kubectl apply --server-side"},
                {"-n,--namespace", &o->ns, "Of the operator [jobset-system]"},
                {"--webhook-url", &o->webhook_url, "With webhook configurations for this address"},
                {"--webhook-ca", &o->webhook_ca,
                 "A PEM file: who signed the webhooks' certificate"}},
      .run = [o] { return install(*o); }};
}

}  // namespace muster::cli
