// `muster serve`: the embedded engine until a signal ends it.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "agent/port_holder.h"
#include "cli/follow/signals.h"
#include "cli/input/config_file.h"
#include "cli/input/pod_user.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "engine/controller_list.h"
#include "engine/engine.h"
#include "engine/listen_address.h"

namespace muster::cli {
namespace {

// How much is created ahead of what runs.
struct Limits {
  controllers::JobLimits jobs;
  controllers::PodLimits pods;
};

Result<engine::EngineOptions> engine_options(const ServeOptions& options, const Limits& limits) {
  engine::EngineOptions engine{.data_dir = options.data_dir,
                               .names = options.names,
                               .kubeconfig_file = options.kubeconfig_out};
  if (options.data_dir.empty())
    return fail(Code::kInvalid, "--data-dir is missing: say where the objects are kept");
  MUSTER_TRY(const engine::ListenAddress listen, engine::parse_listen(options.listen));
  if (!listen.loopback() && !options.allow_remote) {
    return fail(
        Code::kForbidden,
        fmt::format("{} can be reached from other machines; if that is meant, add --allow-remote",
                    listen.address));
  }
  engine.address = listen.address;
  engine.port = listen.port;
  MUSTER_TRY(engine.controllers, engine::parse_controllers(options.controllers));
  MUSTER_CHECK(engine.gates.set(options.feature_gates));
  engine.job_limits = limits.jobs;
  engine.pod_limits = limits.pods;
  MUSTER_TRY(engine.nodes, node_options(options.node));
  MUSTER_TRY(engine::PodPolicy pods, pod_policy(options.node));
  engine.pods = engine::for_many(std::move(pods));
  return engine;
}

// A port that is taken, with the one who has it.
Error with_holder(Error error, std::uint16_t port) {
  if (!error.message.contains(std::strerror(EADDRINUSE))) return error;
  const auto holders = agent::port_holders(port);
  if (!holders.empty())
    error.message += fmt::format("; port {} is taken by {}", port, describe(holders.front()));
  return error;
}

// Nothing without an agent: then there are no pods.
Result<std::string> remark_on_pods(const engine::EngineOptions& options) {
  if (!options.controllers.contains("agent")) return "";
  MUSTER_TRY(const agent::Identity identity, engine::identity_under(options.pods));
  const std::string remark = remark_on_server(options.pods, identity);
  return remark.empty() ? "" : remark + "\n";
}

int serve(ServeOptions options, const Limits& limits) {
  if (const auto read = apply_config_file(options); !read) return complain(read.error(), kUsage);
  auto engine_or = engine_options(options, limits);
  if (!engine_or) return complain(engine_or.error(), kUsage);
  const auto pods = remark_on_pods(*engine_or);
  if (!pods) return complain(pods.error(), kRefused);
  Signals signals;
  const std::uint16_t port = engine_or->port;
  auto engine = engine::Engine::start(*std::move(engine_or));
  if (!engine) return complain(with_holder(engine.error(), port), kRefused);
  Loop& loop = (*engine)->loop();
  signals.on_signal(loop, [&](int) { loop.stop(); });
  fmt::print("muster serves {} (kubeconfig: {})\n{}", (*engine)->url(),
             (*engine)->kubeconfig_file(), *pods);
  std::fflush(stdout);
  loop.run();
  return kSucceeded;
}

}  // namespace

Verb serve_verb() {
  const auto o = std::make_shared<ServeOptions>();
  const auto limits = std::make_shared<Limits>();
  return {.name = "serve",
          .group = "Operate",
          .help = "Serve the Kubernetes API with its controllers on this machine",
          .flags = with_node_flags(
              o->node,
              {{"--data-dir", &o->data_dir,
                "Where objects, keys and logs are kept (created with mode 0700)"},
               {"--listen", &o->listen, "ADDRESS:PORT; port 0 takes any free one"},
               {"--allow-remote", &o->allow_remote,
                "Allow --listen an address that other machines can reach"},
               {"--name", &o->names, "A further name or address that clients use for this server"},
               {"--kubeconfig-out", &o->kubeconfig_out,
                "Where to write the admin's kubeconfig [DATA-DIR/kubeconfig]"},
               {"--controllers", &o->controllers,
                "* or none or names; -name removes one: *,-job,-agent"},
               {"--feature-gates", &o->feature_gates, "A=true,B=false"},
               {"--waiting-jobs-of-set", &limits->jobs.waiting_of_set,
                "The most Jobs of a JobSet that are created and have not started"},
               {"--waiting-jobs", &limits->jobs.waiting_of_all,
                "The same of all JobSets that have more than a thousand of them"},
               {"--waiting-pods-of-set", &limits->pods.waiting_of_set,
                "The most pods of a JobSet, or of a Job without one, that are created and have no "
                "node"},
               {"--waiting-pods", &limits->pods.waiting_of_all,
                "The same of all JobSets and Jobs that have more than a thousand of them"},
               {"--config", &o->config_file, "The same settings as a YAML file; flags win"}}),
          .run = [o, limits] { return serve(*o, *limits); }};
}

}  // namespace muster::cli
