// `muster run FILE`: where it is run, and on whose server (docs/cli.md).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/terminal_text.h"
#include "cli/follow/job_set_run.h"
#include "cli/follow/keys.h"
#include "cli/follow/signals.h"
#include "cli/input/connection.h"
#include "cli/input/durations.h"
#include "cli/input/kinds.h"
#include "cli/input/pod_user.h"
#include "cli/input/shell_word.h"
#include "cli/input/startable.h"
#include "cli/input/warnings.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "controllers/set/controllers.h"
#include "engine/data_dir.h"
#include "engine/engine.h"
#include "engine/open_files.h"
#include "engine/run_directory.h"
#include "engine/run_share.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::cli {
namespace {

// Another run that is about to serve the directory is waited for so long.
constexpr Duration kHostStart = std::chrono::seconds(30);
constexpr auto kLookEvery = std::chrono::milliseconds(100);

struct RunOptions {
  ServerFlags server;
  NodeFlags node;
  std::string file;
  std::string prefix = "name";
  std::string exit_code_from;
  std::string timeout;
  std::string patience{kUsualPatience};
  bool timestamps = false;
  bool no_progress = false;
};

// Where signals go; the loop may run on without the run.
using Heard = std::shared_ptr<std::function<void(int)>>;

Heard listen_to(Signals& signals, Loop& loop) {
  auto heard = std::make_shared<std::function<void(int)>>();
  signals.on_signal(loop, [heard](int number) {
    if (*heard) (*heard)(number);
  });
  return heard;
}

int run_to_its_end(JobSetRun& run, Loop& loop, const Heard& heard, bool can_detach) {
  Session& session = run.session();
  *heard = [&session](int number) { session.signalled(number); };
  std::optional<Keys> keys;
  if (can_detach) {
    keys.emplace(loop, [&](Key key) { session.pressed(key); });
  }
  run.begin();
  loop.run();
  *heard = nullptr;
  return session.exit_code();
}

// Tells when the run that serves us has gone: nobody else starts its server again, and its
// processes, with them ours, have ended.
class HostWatch {
 public:
  HostWatch(Loop& loop, const engine::RunShare& share, std::function<void(const Error&)> gone)
      : loop_(loop), share_(share), pid_(share.host_pid()), gone_(std::move(gone)) {
    look();
  }
  ~HostWatch() { loop_.cancel(timer_); }
  HostWatch(const HostWatch&) = delete;

 private:
  void look() {
    if (share_.has_host()) {
      timer_ = loop_.after(kLookEvery, [this] { look(); });
      return;
    }
    gone_({.code = Code::kUnavailable,
           .message = fmt::format("the server cannot be reached any more: the run that owned it "
                                  "(pid {}) was killed, and its processes ended with it",
                                  pid_)});
  }

  Loop& loop_;
  const engine::RunShare& share_;
  const pid_t pid_;
  const std::function<void(const Error&)> gone_;
  TimerId timer_ = TimerId::kNone;
};

// On a server that is up; `host` is set if another run has started it.
int run_there(Connection& connection, Signals& signals, RunPlan plan,
              const engine::RunShare* host = nullptr) {
  engine::allow_many_files();
  const bool can_detach = plan.can_detach;
  plan.follow.keys =
      can_detach ? "Ctrl-C: stop, twice: kill, d: detach" : "Ctrl-C: stop, twice: kill";
  Loop& loop = connection.loop();
  const Heard heard = listen_to(signals, loop);
  JobSetRun run(connection.transport(), std::move(plan));
  connection.on_absence([&](std::string_view line) { run.session().note(line); },
                        [&](const Error& why) { run.session().lost_server(why); });
  std::optional<HostWatch> watch;
  if (host != nullptr)
    watch.emplace(loop, *host, [&](const Error& why) { run.session().lost_server(why); });
  return run_to_its_end(run, loop, heard, can_detach);
}

// The server ends after the last run that uses it.
void wait_for_guests(Loop& loop, const Heard& heard, engine::RunShare& share) {
  if (share.close()) return;
  fmt::print(stderr,
             "other runs use this server: it ends with the last of them; Ctrl-C ends it now\n");
  *heard = [&loop](int) { loop.stop(); };
  TimerId timer = TimerId::kNone;
  const std::function<void()> look = [&] {
    if (share.close()) return loop.stop();
    timer = loop.after(kLookEvery, [&] { look(); });
  };
  look();
  loop.run();
  loop.cancel(timer);
  *heard = nullptr;
}

// The one that is run.
const ManifestObject& job_set_in(const Manifest& manifest) {
  const auto found = std::ranges::find(manifest.objects(), &job_sets(), &ManifestObject::resource);
  MUSTER_ASSERT(found != manifest.objects().end(), "files without one are refused");
  return *found;
}

std::string absolute(const std::string& path) {
  std::error_code unknown;  // of the working directory; the path stays as it is then
  const auto whole = std::filesystem::absolute(path, unknown);
  return unknown ? path : whole.lexically_normal().string();
}

// The flags by which another verb finds the same server, behind a space.
std::string server_words(const ServerFlags& flags) {
  std::string out;
  const auto add = [&out](std::string_view flag, const std::string& value) {
    if (!value.empty()) out += fmt::format(" {} {}", flag, shell_word(value));
  };
  add("--kubeconfig", flags.kubeconfig);
  add("--context", flags.context);
  add("--data-dir", flags.data_dir);
  add("-n", flags.ns);
  return out;
}

// Whom pods run as is said when it is not who started the run; files that he could not reach are
// missed before anything starts.
Status tell_user(const Manifest& manifest, const engine::PodPolicy& pods) {
  if (!pods.oci_runtime.empty()) return {};
  MUSTER_TRY(const auto user, other_user(pods));
  if (!user) return {};
  json::Arena arena;
  MUSTER_TRY(const json::Value set, json::parse(arena, job_set_in(manifest).body));
  if (!user->enters && !pods.any_user) {
    const std::string file = needed_here(set, [](const std::string& path) {
      std::error_code unknown;
      return std::filesystem::exists(path, unknown);
    });
    if (!file.empty()) return fail(Code::kInvalid, refusal_for(*user, file));
  }
  if (const std::string remark = remark_on(*user); !remark.empty())
    fmt::print(stderr, "{}\n", remark);
  return {};
}

// Nobody else could change it on a server that ends with this run.
Status refuse_what_never_starts(const Manifest& manifest) {
  const ManifestObject& object = job_set_in(manifest);
  json::Arena arena;
  MUSTER_TRY(const json::Value set, json::parse(arena, object.body));
  const Status able = check_will_run(set);
  return able ? able : fail(Code::kInvalid, manifest.explain(object, able.error()));
}

struct Place {
  std::string directory;
  engine::RunShare* share = nullptr;  // null: nobody else knows the directory
};

// On a server of our own.
int run_here(const RunOptions& options, Signals& signals, RunPlan plan, const Place& place) {
  const auto nodes = node_options(options.node);
  if (!nodes) return complain(nodes.error(), kUsage);
  const auto pods = pod_policy(options.node);
  if (!pods) return complain(pods.error(), kUsage);
  if (const Status able = refuse_what_never_starts(plan.manifest); !able)
    return complain_verbatim(able.error());
  if (const Status told = tell_user(plan.manifest, *pods); !told)
    return complain_verbatim(told.error());
  auto engine = engine::Engine::start({.data_dir = place.directory,
                                       .controllers = controllers::ControllerSet::names(),
                                       .nodes = *nodes,
                                       .pods = *pods,
                                       .leave_nothing = true,
                                       .keep_objects = place.share != nullptr});
  if (!engine) return complain(engine.error(), kRefused);
  plan.is_private = true;
  plan.can_detach = false;
  plan.follow.is_alone = [share = place.share] { return share == nullptr || share->is_alone(); };
  plan.follow.keys = "Ctrl-C: stop, twice: kill";
  plan.follow.kubeconfig = absolute(place.directory) + "/kubeconfig";
  plan.watch = "muster top --data-dir " + shell_word(absolute(place.directory));
  if (place.share != nullptr) {
    plan.make_room = fmt::format(
        "start muster serve --data-dir {0}, then muster delete jobset {1} --data-dir {0} makes "
        "room",
        shell_word(place.directory), job_set_in(plan.manifest).name);
  }
  Loop& loop = (*engine)->loop();
  const Heard heard = listen_to(signals, loop);
  bool is_kept = false;
  int exit_code = kRefused;
  {
    WarningTransport transport((*engine)->transport(), print_warning);
    JobSetRun run(transport, std::move(plan));
    exit_code = run_to_its_end(run, loop, heard, false);
    is_kept = place.share != nullptr && run.session().has_left_something();
  }
  if (is_kept) {
    fmt::print(stderr,
               "kept in {0}: muster serve --data-dir {1} shows it to get, logs and delete\n",
               plain_text(place.directory), shell_word(place.directory));
  }
  if (place.share != nullptr) wait_for_guests(loop, heard, *place.share);
  return exit_code;
}

int run_privately(const RunOptions& options, Signals& signals, RunPlan plan) {
  std::error_code error;
  const std::string parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return complain({.code = Code::kUnavailable,
                     .message = "there is no directory for temporary files: " + error.message()},
                    kRefused);
  }
  engine::sweep_run_directories(parent);
  const auto own = engine::RunDirectory::make(parent);
  if (!own) return complain(own.error(), kRefused);
  return run_here(options, signals, std::move(plan), {.directory = own->path()});
}

// A data directory may have been left by a server that is gone.
std::unique_ptr<Connection> server_that_answers(const ServerFlags& flags, Duration patience) {
  auto opened = Connection::open_reconnecting(flags, patience);
  if (!opened || !(*opened)->get("/livez")) return nullptr;
  return *std::move(opened);
}

// With the server of the directory if there is one, else with one of our own.
int run_in(const std::string& directory, const RunOptions& options, Signals& signals, RunPlan plan,
           Duration patience) {
  if (const auto made = engine::make_data_dir(directory); !made)
    return complain(made.error(), kRefused);
  auto share = engine::RunShare::join(directory);
  if (!share) return complain(share.error(), kRefused);
  const Duration deadline = monotonic_now() + kHostStart;
  while (monotonic_now() < deadline) {
    if (const auto connection = server_that_answers(options.server, patience)) {
      const bool is_guest = share->has_host();
      plan.can_detach = !is_guest;
      return run_there(*connection, signals, std::move(plan), is_guest ? &*share : nullptr);
    }
    if (share->host())
      return run_here(options, signals, std::move(plan),
                      {.directory = directory, .share = &*share});
    std::this_thread::sleep_for(kLookEvery);
  }
  return complain({.code = Code::kUnavailable,
                   .message = fmt::format("another run serves {}, but does not answer", directory)},
                  kUnreachable);
}

Result<FollowOptions> follow_options(const RunOptions& options) {
  FollowOptions follow;
  follow.logs.timestamps = options.timestamps;
  follow.logs.prefix = parse_prefix(options.prefix);
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
  if (sets > 1) {
    return fail(Code::kInvalid, fmt::format("there are two JobSets or more in {}; run takes one",
                                            plain_text(manifest.file())));
  }
  Error error = no_job_set(manifest);
  if (!manifest.objects().empty())
    error.message += "\n  help: muster apply -f FILE hands such to a server";
  return std::unexpected(std::move(error));
}

// What this machine cannot run is said before anything is started; images, which it has no use for,
// may be left out.
Status make_startable(Manifest& manifest) {
  const ManifestObject& object = job_set_in(manifest);
  json::Arena arena;
  MUSTER_TRY(const json::Value set, json::parse(arena, object.body));
  if (const Status checked = check_commands(set); !checked)
    return fail(Code::kInvalid, manifest.explain(object, checked.error()));
  if (add_images(set)) {
    manifest.replace_body(static_cast<std::size_t>(&object - manifest.objects().data()),
                          json::write(set));
  }
  return {};
}

// Hours later would be too late to say that nobody has that name.
Status check_exit_code_from(const Manifest& manifest, std::string_view selection) {
  json::Arena arena;
  MUSTER_TRY(const json::Value set, json::parse(arena, job_set_in(manifest).body));
  return check_selection(set, selection);
}

Result<RunPlan> make_plan(const RunOptions& options, FollowOptions follow,
                          const std::string& default_ns) {
  MUSTER_TRY(Manifest manifest, Manifest::read(options.file, default_ns));
  MUSTER_CHECK(check(manifest));
  return RunPlan{.manifest = std::move(manifest),
                 .follow = std::move(follow),
                 .progress = !options.no_progress,
                 .server = server_words(options.server),
                 .watch = {},
                 .make_room = {}};
}

// A fault that is shown where it stands in the file leaves the question of what has been done.
int refuse(const Error& error) {
  const int code = complain_verbatim(error);
  return error.message.starts_with("error: ") ? say_nothing_stored(code) : code;
}

int run(const RunOptions& options) {
  auto follow = follow_options(options);
  if (!follow) return complain(follow.error(), kUsage);
  const auto patience = parse_duration(options.patience, "--patience");
  if (!patience) return complain(patience.error(), kUsage);
  // What goes wrong with the run is told by its objects; the engine's own lines would tear the
  // screen.
  log::configure(log::Level::kError, log::Format::kText);
  Signals signals;
  std::unique_ptr<Connection> elsewhere;
  if (!options.server.kubeconfig.empty()) {
    auto opened = Connection::open_reconnecting(options.server, *patience);
    if (!opened) return complain(opened.error());
    elsewhere = *std::move(opened);
  }
  auto plan = make_plan(options, *std::move(follow),
                        elsewhere                   ? elsewhere->ns()
                        : options.server.ns.empty() ? "default"
                                                    : options.server.ns);
  if (!plan) return refuse(plan.error());
  const Status meant = check_exit_code_from(plan->manifest, options.exit_code_from);
  if (!meant) return complain(meant.error(), kUsage);
  if (elsewhere) return run_there(*elsewhere, signals, *std::move(plan));
  // Where containers have images, those may say what to run.
  const Status startable = options.node.has_images() ? Status() : make_startable(plan->manifest);
  if (!startable) return refuse(startable.error());
  const std::string& directory = options.server.data_dir;
  return directory.empty() ? run_privately(options, signals, *std::move(plan))
                           : run_in(directory, options, signals, *std::move(plan), *patience);
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
               {"--patience", &o->patience, std::string(kPatienceHelp)},
               {"--exit-code-from", &o->exit_code_from,
                "RJOB[/JOB[/POD]]: end with the exit code of this process"},
               {"--prefix", &o->prefix, "What stands before a log line", prefix_words()},
               {"-t,--timestamps", &o->timestamps, "The time before each log line"},
               {"--no-progress", &o->no_progress, "Plain lines, also on a terminal"}}),
          .run = [o] { return run(*o); }};
}

}  // namespace muster::cli
