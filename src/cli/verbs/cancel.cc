// `muster cancel`: a JobSet or Job ends, its processes first.
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/print.h"
#include "cli/verbs/removal.h"

namespace muster::cli {
namespace {

struct CancelOptions {
  ServerFlags server;
  std::vector<std::string> names;
  Removal removal = {.cascade = "foreground"};
};

int cancel(const CancelOptions& options) {
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  std::vector<Doomed> doomed;
  for (const std::string& name : options.names) {
    const auto found = find_object(**connection, name, {&job_sets(), &jobs()});
    if (!found) return complain(found.error());
    doomed.push_back({found->resource, (*connection)->ns(), found->name});
  }
  return remove_all(**connection, doomed, options.removal, "cancelled");
}

}  // namespace

Verb cancel_verb() {
  const auto o = std::make_shared<CancelOptions>();
  return {.name = "cancel",
          .group = "Run",
          .help = "Stop a JobSet or Job: its processes end, then it is deleted",
          .flags = with_server_flags(
              o->server, {{"names", &o->names, "JobSets or Jobs", {}, true},
                          {"--grace-period",
                           &o->removal.grace_seconds,
                           "Seconds between SIGTERM and SIGKILL [the pod's]",
                           {},
                           false,
                           kGraceRange},
                          {"--wait,!--no-wait", &o->removal.wait,
                           "Wait until they are gone; --wait=false does not [true]"},
                          {"--timeout", &o->removal.timeout, "Wait no longer than this: 30s, 5m"}}),
          .run = [o] { return cancel(*o); }};
}

}  // namespace muster::cli
