// `muster serve`: the embedded engine until a signal ends it.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/controller_list.h"
#include "cli/engine.h"
#include "cli/exit_code.h"
#include "cli/listen_address.h"
#include "cli/print.h"
#include "cli/signals.h"

namespace muster::cli {
namespace {

Result<EngineOptions> engine_options(const ServeOptions& options) {
  EngineOptions engine{.data_dir = options.data_dir,
                       .names = options.names,
                       .kubeconfig_file = options.kubeconfig_out};
  if (options.data_dir.empty())
    return fail(Code::kInvalid, "--data-dir is missing: say where the objects are kept");
  MUSTER_TRY(const ListenAddress listen, parse_listen(options.listen));
  if (!listen.loopback() && !options.allow_remote) {
    return fail(
        Code::kForbidden,
        fmt::format("{} can be reached from other machines; if that is meant, add --allow-remote",
                    listen.address));
  }
  engine.address = listen.address;
  engine.port = listen.port;
  MUSTER_TRY(engine.controllers, parse_controllers(options.controllers));
  MUSTER_CHECK(engine.gates.set(options.feature_gates));
  return engine;
}

// Every connection, and so every watch, is a file descriptor.
void allow_many_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int serve(ServeOptions options) {
  if (const auto read = apply_config_file(options); !read) return complain(read.error(), kUsage);
  auto engine_or = engine_options(options);
  if (!engine_or) return complain(engine_or.error(), kUsage);
  Signals signals;
  allow_many_connections();
  auto engine = Engine::start(*std::move(engine_or));
  if (!engine) return complain(engine.error(), kRefused);
  Loop& loop = (*engine)->loop();
  signals.on_signal(loop, [&](int) { loop.stop(); });
  fmt::print("muster serves {} (kubeconfig: {})\n", (*engine)->url(), (*engine)->kubeconfig_file());
  std::fflush(stdout);
  loop.run();
  return kSucceeded;
}

}  // namespace muster::cli
