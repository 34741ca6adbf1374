// `muster attach NAME`: what `run` shows, of a JobSet that is there already.
#include "base/log.h"
#include "cli/follow/keys.h"
#include "cli/follow/session.h"
#include "cli/follow/signals.h"
#include "cli/input/connection.h"
#include "cli/input/durations.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "engine/open_files.h"

namespace muster::cli {
namespace {

struct AttachOptions {
  ServerFlags server;
  std::string name;
  std::string prefix = "name";
  std::string exit_code_from;
  std::string timeout;
  std::string patience{kUsualPatience};
  std::int64_t tail = -1;
  bool timestamps = false;
  bool no_progress = false;
};

int attach(const AttachOptions& options) {
  FollowOptions follow{.ns = {},
                       .job_set = {},
                       .uid = {},
                       .logs = {},
                       .keys = "Ctrl-C, d: leave it running",
                       .exit_code_from = options.exit_code_from,
                       .timeout = {}};
  if (!options.timeout.empty()) {
    const auto timeout = parse_duration(options.timeout, "--timeout");
    if (!timeout) return complain(timeout.error(), kUsage);
    follow.timeout = *timeout;
  }
  const auto patience = parse_duration(options.patience, "--patience");
  if (!patience) return complain(patience.error(), kUsage);
  log::configure(log::Level::kError, log::Format::kText);
  Signals signals;
  auto connection = Connection::open_reconnecting(options.server, *patience);
  if (!connection) return complain(connection.error());
  const auto found = find_object(**connection, options.name, {&job_sets()});
  if (!found) return complain(found.error());
  if (found->resource != &job_sets()) return misused("attach follows JobSets; muster logs others");
  engine::allow_many_files();
  follow.ns = (*connection)->ns();
  follow.job_set = found->name;
  follow.uid = uid_of(*found);
  follow.logs = {.timestamps = options.timestamps,
                 .container = {},
                 .tail = options.tail,
                 .prefix = parse_prefix(options.prefix)};
  Loop& loop = (*connection)->loop();
  Session session((*connection)->client(), {.job_set = follow.job_set, .can_detach = true},
                  !options.no_progress);
  (*connection)
      ->on_absence([&](std::string_view line) { session.note(line); },
                   [&](const Error& why) { session.lost_server(why); });
  signals.on_signal(loop, [&](int number) { session.signalled(number); });
  const Keys keys(loop, [&](Key key) { session.pressed(key); });
  session.follow(follow);
  loop.run();
  return session.exit_code();
}

}  // namespace

Verb attach_verb() {
  const auto o = std::make_shared<AttachOptions>();
  return {.name = "attach",
          .group = "Run",
          .help = "Follow a JobSet that is running, and end with its outcome",
          .flags = with_server_flags(
              o->server, {{"name", &o->name, "A JobSet", {}, true},
                          {"--timeout", &o->timeout, "Leave after this time: 90s, 10m, 2h"},
                          {"--patience", &o->patience, std::string(kPatienceHelp)},
                          {"--tail", &o->tail, "Begin with so many lines of each log [all]"},
                          {"--exit-code-from", &o->exit_code_from,
                           "RJOB[/JOB[/POD]]: end with the exit code of this process"},
                          {"--prefix", &o->prefix, "What stands before a log line", prefix_words()},
                          {"-t,--timestamps", &o->timestamps, "The time before each log line"},
                          {"--no-progress", &o->no_progress, "Plain lines, also on a terminal"}}),
          .run = [o] { return attach(*o); }};
}

}  // namespace muster::cli
