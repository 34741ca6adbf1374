// `muster run FILE`: its objects on a private engine, or on a server that is up, followed to the
// JobSet's end.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/controller_list.h"
#include "cli/durations.h"
#include "cli/engine.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/keys.h"
#include "cli/kinds.h"
#include "cli/manifest.h"
#include "cli/print.h"
#include "cli/signals.h"
#include "cli/terminal_text.h"
#include "cli/warnings.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct RunOptions {
  ServerFlags server;
  NodeFlags node;
  std::string file;
  std::string prefix = "name";
  std::string exit_code_from;
  std::string timeout;
  bool timestamps = false;
  bool no_progress = false;
};

// What is run, and how.
struct Plan {
  Manifest manifest;
  FollowOptions follow;
  bool progress = true;
  bool is_private = false;  // nothing of it may be left
  std::string kubeconfig;   // for others who want to look on; empty: they know
};

// One run: from the first create to the JobSet's end, or to the second Ctrl-C.
class Run {
 public:
  Run(client::Transport& transport, Plan plan)
      : loop_(transport.loop()),
        client_(transport, "muster-run"),
        plan_(std::move(plan)),
        screen_({.progress = plan_.progress}) {}

  void begin() { create_next(); }
  int exit_code() const { return exit_code_; }

  void signalled(int number) {
    if (!std::exchange(stopping_, true)) {
      exit_code_ = kSignal + number;
      screen_.clear_block();
      screen_.note(fmt::format("stopping {}; once more kills it", plan_.follow.job_set));
      return stop();
    }
    screen_.note("killed");
    kill();
  }

  void detach() {
    if (stopping_ || plan_.is_private || !follow_) return;
    screen_.clear_block();
    screen_.note(fmt::format("{} goes on; muster attach {} comes back to it", plan_.follow.job_set,
                             plan_.follow.job_set));
    end(kSucceeded);
  }

 private:
  void create_next() {
    if (created_ == plan_.manifest.objects().size()) return follow();
    const ManifestObject& object = plan_.manifest.objects()[created_];
    client_.write({.verb = client::Verb::kCreate,
                   .resource = object.resource,
                   .ns = object.ns,
                   .name = object.name,
                   .body = object.body,
                   .strict = true},
                  [this](Result<std::string> answer) {
                    if (!answer) return refused(answer.error());
                    took(*answer);
                  });
  }

  void took(std::string_view answer) {
    const ManifestObject& object = plan_.manifest.objects()[created_];
    if (object.resource == &job_sets()) {
      json::Arena arena;
      const auto tree = json::parse(arena, answer);
      // Of the created object: the file may have given a prefix only.
      if (tree) plan_.follow.job_set = tree->get({"metadata", "name"}).as_string();
      plan_.follow.ns = object.ns;
    }
    ++created_;
    create_next();
  }

  // What the JobSet needs may be there already; it itself may not.
  void refused(const Error& error) {
    const ManifestObject& object = plan_.manifest.objects()[created_];
    if (error.code != Code::kAlreadyExists) {
      fmt::print(stderr, "{}", plan_.manifest.explain(object, error));
      return end(exit_code_of(error));
    }
    if (object.resource == &job_sets()) {
      fmt::print(stderr,
                 "error: {}\n  help: muster attach {} follows the one that is there, muster delete "
                 "jobset {} makes room\n",
                 plain_text(error.message), object.name, object.name);
      return end(kRefused);
    }
    client_.write({.verb = client::Verb::kPatch,
                   .resource = object.resource,
                   .ns = object.ns,
                   .name = object.name,
                   .body = object.body,
                   .patch_type = client::PatchType::kApply,
                   .force = true,
                   .strict = true},
                  [this, &object](Result<std::string> answer) {
                    if (answer) return took(*answer);
                    fmt::print(stderr, "{}", plan_.manifest.explain(object, answer.error()));
                    end(exit_code_of(answer.error()));
                  });
  }

  void follow() {
    if (!plan_.kubeconfig.empty())
      screen_.note(
          fmt::format("watch it: KUBECONFIG={} kubectl get jobsets,jobs,pods", plan_.kubeconfig));
    plan_.follow.logs.colours = screen_.colours();
    follow_.emplace(client_, screen_, plan_.follow, [this](int code) { over(code); });
    follow_->on_change([this] { end_if_stopped(); });
    follow_->start();
  }

  // The JobSet has ended, or there is no use in waiting for it.
  void over(int code) {
    if (stopping_) return;
    exit_code_ = code;
    const bool gave_up = code == kTimedOut || code == kCannotPlace;
    if (code == kUnreachable) return end(code);
    const bool leave = plan_.is_private ? follow_->live_pods().empty() : !gave_up;
    if (leave || follow_->is_deleted()) return end(code);
    stopping_ = true;
    if (gave_up) screen_.note(fmt::format("stopping {}", plan_.follow.job_set));
    stop();
  }

  // Its pods get their grace period; it is over when they have gone.
  void stop() {
    if (!follow_) return end(exit_code_);
    follow_->expect_deletion();
    client_.write({.verb = client::Verb::kDelete,
                   .resource = &job_sets(),
                   .ns = plan_.follow.ns,
                   .name = plan_.follow.job_set,
                   .body = R"({"propagationPolicy":"Background"})"},
                  [this](const Result<std::string>& answer) {
                    if (answer || answer.error().code == Code::kNotFound) return end_if_stopped();
                    complain(answer.error());
                    end(exit_code_);
                  });
  }

  void end_if_stopped() {
    if (stopping_ && follow_ && follow_->is_deleted() && follow_->live_pods().empty())
      end(exit_code_);
  }

  void kill() {
    const auto pods_left = follow_ ? follow_->live_pods() : std::vector<std::string>();
    if (pods_left.empty()) return end(exit_code_);
    const auto missing = std::make_shared<std::size_t>(pods_left.size());
    for (const std::string& pod : pods_left) {
      client_.write({.verb = client::Verb::kDelete,
                     .resource = &pods(),
                     .ns = plan_.follow.ns,
                     .name = pod,
                     .body = R"({"gracePeriodSeconds":0})"},
                    [this, missing](const Result<std::string>&) {
                      if (--*missing == 0) end(exit_code_);
                    });
    }
  }

  void end(int code) {
    exit_code_ = code;
    screen_.clear_block();
    loop_.stop();
  }

  Loop& loop_;
  client::Client client_;
  Plan plan_;
  Screen screen_;
  std::size_t created_ = 0;
  std::optional<Follow> follow_;
  bool stopping_ = false;
  int exit_code_ = kRefused;
};

// A directory of our own, gone when the run is over.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-run-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int run_on(Loop& loop, client::Transport& transport, Signals& signals, Plan plan) {
  const bool can_detach = !plan.is_private;
  Run run(transport, std::move(plan));
  // The loop may run on while the engine winds up, without us.
  const auto running = std::make_shared<bool>(true);
  signals.on_signal(loop, [&run, running](int number) {
    if (*running) run.signalled(number);
  });
  std::optional<Keys> keys;
  if (can_detach)
    keys.emplace(loop, [&](Key key) {
      if (key == Key{'d'}) run.detach();
    });
  run.begin();
  loop.run();
  *running = false;
  return run.exit_code();
}

// One that answers: a data directory may have been left by a server that is gone.
bool answers(Connection& connection) { return connection.get("/livez").has_value(); }

int run_there(Connection& connection, Signals& signals, Plan plan) {
  plan.follow.keys = "Ctrl-C: stop, twice: kill, d: detach";
  return run_on(connection.loop(), connection.transport(), signals, std::move(plan));
}

int run_here(const RunOptions& options, Signals& signals, Plan plan) {
  const std::string& data_dir = options.server.data_dir;
  const auto nodes = node_options(options.node);
  if (!nodes) return complain(nodes.error(), kUsage);
  const auto pods = pod_policy(options.node);
  if (!pods) return complain(pods.error(), kUsage);
  std::optional<PrivateDirectory> own;
  if (data_dir.empty()) own.emplace();
  const std::string dir = own ? own->path() : data_dir;
  if (dir.empty())
    return complain({.code = Code::kUnavailable, .message = "cannot make a private directory"},
                    kRefused);
  auto engine = Engine::start({.data_dir = dir,
                               .controllers = all_controllers(),
                               .nodes = *nodes,
                               .pods = *pods,
                               .leave_nothing = true});
  if (!engine) return complain(engine.error(), kRefused);
  plan.is_private = true;
  plan.follow.fixed_nodes = true;
  plan.follow.keys = "Ctrl-C: stop, twice: kill";
  plan.kubeconfig = (*engine)->kubeconfig_file();
  WarningTransport transport((*engine)->transport(), print_warning);
  return run_on((*engine)->loop(), transport, signals, std::move(plan));
}

Result<FollowOptions> follow_options(const RunOptions& options) {
  FollowOptions follow;
  follow.logs.timestamps = options.timestamps;
  follow.logs.prefix = options.prefix == "rank"   ? Prefix::kRank
                       : options.prefix == "none" ? Prefix::kNone
                                                  : Prefix::kName;
  follow.exit_code_from = options.exit_code_from;
  if (!options.timeout.empty()) {
    MUSTER_TRY(follow.timeout, parse_duration(options.timeout, "--timeout"));
  }
  return follow;
}

// One JobSet, and what it needs.
Status check(const Manifest& manifest) {
  const auto sets = std::ranges::count_if(manifest.objects(), [](const ManifestObject& object) {
    return object.resource == &job_sets();
  });
  if (sets == 1) return {};
  return fail(Code::kInvalid, sets == 0
                                  ? "there is no JobSet in the file"
                                  : "there are two JobSets or more in the file; run takes one");
}

int run(const RunOptions& options) {
  auto follow = follow_options(options);
  if (!follow) return complain(follow.error(), kUsage);
  // What goes wrong with the run is told by its objects; the engine's own lines would tear the
  // screen.
  log::configure(log::Level::kError, log::Format::kText);
  Signals signals;
  std::unique_ptr<Connection> connection;
  const bool elsewhere = !options.server.kubeconfig.empty();
  if (elsewhere || !options.server.data_dir.empty()) {
    auto opened = Connection::open(options.server);
    if (!opened && elsewhere) return complain(opened.error());
    if (opened && (elsewhere || answers(**opened))) connection = *std::move(opened);
  }
  const std::string default_ns = connection                  ? connection->ns()
                                 : options.server.ns.empty() ? "default"
                                                             : options.server.ns;
  auto manifest = Manifest::read(options.file, default_ns);
  if (manifest) {
    if (const auto checked = check(*manifest); !checked)
      manifest = std::unexpected(checked.error());
  }
  if (!manifest) return complain_verbatim(manifest.error());
  Plan plan{.manifest = *std::move(manifest),
            .follow = *std::move(follow),
            .progress = !options.no_progress,
            .kubeconfig = {}};
  return connection ? run_there(*connection, signals, std::move(plan))
                    : run_here(options, signals, std::move(plan));
}

}  // namespace

Verb run_verb() {
  const auto o = std::make_shared<RunOptions>();
  return {.name = "run",
          .group = "Run",
          .help = "Run a JobSet here, follow its logs and end with its outcome",
          .flags = with_node_flags(
              o->node,
              {{"file", &o->file, "A YAML file, or - for standard input", {}, true},
               {"-n,--namespace", &o->server.ns, "Namespace for objects that name none [default]"},
               {"--kubeconfig", &o->server.kubeconfig,
                "Run it on this server instead, which has muster"},
               {"--context", &o->server.context, "Of the kubeconfig [its current one]"},
               {"--data-dir", &o->server.data_dir,
                "Keep the objects and logs here [a private directory, removed at the end]"},
               {"--timeout", &o->timeout, "Stop it after this time: 90s, 10m, 2h"},
               {"--exit-code-from", &o->exit_code_from,
                "RJOB[/JOB[/POD]]: end with the exit code of this process"},
               {"--prefix", &o->prefix, "What stands before a log line", {"name", "rank", "none"}},
               {"-t,--timestamps", &o->timestamps, "The time before each log line"},
               {"--no-progress", &o->no_progress, "Plain lines, also on a terminal"}}),
          .run = [o] { return run(*o); }};
}

}  // namespace muster::cli
