// `muster delete` and `muster cancel`: objects go, and what they own with them.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/durations.h"
#include "cli/exit_code.h"
#include "cli/kinds.h"
#include "cli/lookup.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/print.h"
#include "cli/terminal_text.h"
#include "cli/until.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct DeleteOptions {
  ServerFlags server;
  std::vector<std::string> what;
  std::vector<std::string> files;
  std::string labels;
  bool all = false;
  bool no_wait = false;
  bool ignore_missing = false;
  std::int64_t grace = -1;
  std::string cascade = "background";
  std::string timeout;
};

struct Doomed {
  const api::Resource* resource = nullptr;
  std::string ns;
  std::string name;
};

std::string options_body(const DeleteOptions& options) {
  const std::string_view policy = options.cascade == "foreground" ? "Foreground"
                                  : options.cascade == "orphan"   ? "Orphan"
                                                                  : "Background";
  if (options.grace < 0) return fmt::format(R"({{"propagationPolicy":"{}"}})", policy);
  return fmt::format(R"({{"propagationPolicy":"{}","gracePeriodSeconds":{}}})", policy,
                     options.grace);
}

Result<std::vector<Doomed>> by_selector(Connection& connection, const api::Resource& resource,
                                        const DeleteOptions& options) {
  MUSTER_TRY(const std::string list,
             connection.list(resource, {.ns = resource.namespaced ? connection.ns() : "",
                                        .metadata_only = true,
                                        .label_selector = options.labels}));
  json::Arena arena;
  MUSTER_TRY(const json::Value tree, json::parse(arena, list));
  std::vector<Doomed> doomed;
  for (const json::Value item : tree.get("items").items()) {
    doomed.push_back({&resource, std::string(item.get({"metadata", "namespace"}).as_string()),
                      std::string(item.get({"metadata", "name"}).as_string())});
  }
  return doomed;
}

Result<std::vector<Doomed>> find_doomed(Connection& connection, const DeleteOptions& options) {
  std::vector<Doomed> doomed;
  for (const std::string& file : options.files) {
    MUSTER_TRY(const Manifest manifest, Manifest::read(file, connection.ns()));
    for (const ManifestObject& object : manifest.objects())
      doomed.push_back({object.resource, object.ns, object.name});
  }
  if (options.what.empty()) return doomed;
  MUSTER_TRY(const auto wanted, parse_wanted(api::Registry::builtin(), options.what));
  for (const Wanted& kind : wanted) {
    if (kind.names.empty() && !options.all && options.labels.empty()) {
      return fail(Code::kInvalid,
                  fmt::format("say which {}: names, -l LABELS or --all", kind.resource->plural));
    }
    if (kind.names.empty()) {
      MUSTER_TRY(const auto found, by_selector(connection, *kind.resource, options));
      doomed.insert(doomed.end(), found.begin(), found.end());
    }
    for (const std::string& name : kind.names)
      doomed.push_back({kind.resource, kind.resource->namespaced ? connection.ns() : "", name});
  }
  return doomed;
}

// The exit code; what is there no more is not waited for.
int remove(Connection& connection, const std::vector<Doomed>& doomed, const DeleteOptions& options,
           std::string_view word) {
  int worst = kSucceeded;
  std::vector<Doomed> left;
  for (const Doomed& one : doomed) {
    const auto answer = connection.write({.verb = client::Verb::kDelete,
                                          .resource = one.resource,
                                          .ns = one.ns,
                                          .name = one.name,
                                          .body = options_body(options)});
    if (answer) {
      fmt::print("{} \"{}\" {}\n", one.resource->qualified(), plain_text(one.name), word);
      left.push_back(one);
    } else if (answer.error().code != Code::kNotFound || !options.ignore_missing) {
      worst = complain(explain_missing(connection, *one.resource, one.name, answer.error()));
      if (worst == kUnreachable) return worst;
    }
  }
  std::fflush(stdout);
  if (options.no_wait) return worst;
  std::optional<Duration> timeout;
  if (!options.timeout.empty()) {
    const auto parsed = parse_duration(options.timeout, "--timeout");
    if (!parsed) return complain(parsed.error(), kUsage);
    timeout = *parsed;
  }
  for (const Doomed& one : left) {
    const auto gone = wait_until(connection, *one.resource, one.ns, one.name, timeout,
                                 [](json::Value object) { return object.is_null(); });
    if (!gone) return complain(gone.error());
  }
  return worst;
}

int remove_wanted(const DeleteOptions& options) {
  if (options.what.empty() && options.files.empty())
    return misused("say what to delete", "muster delete KIND NAME..., or -f FILE");
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto doomed = find_doomed(**connection, options);
  if (!doomed) return complain_verbatim(doomed.error());
  return remove(**connection, *doomed, options, "deleted");
}

int cancel(DeleteOptions options) {
  options.cascade = "foreground";
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  std::vector<Doomed> doomed;
  for (const std::string& name : options.what) {
    const auto found = find_object(**connection, name, {&job_sets(), &jobs()});
    if (!found) return complain(found.error());
    doomed.push_back({found->resource, (*connection)->ns(), found->name});
  }
  return remove(**connection, doomed, options, "cancelled");
}

}  // namespace

Verb delete_verb() {
  const auto o = std::make_shared<DeleteOptions>();
  return {.name = "delete",
          .group = "Objects",
          .help = "Delete objects and what they own, and wait until they are gone",
          .flags = with_server_flags(
              o->server,
              {{"what", &o->what, "KIND NAME... or KIND/NAME..."},
               {"-f,--filename", &o->files, "The objects of a file, - is standard input"},
               {"-l,--selector", &o->labels, "Those with these labels"},
               {"--all", &o->all, "All of the kind in the namespace"},
               {"--grace-period", &o->grace, "Seconds between SIGTERM and SIGKILL [the pod's]"},
               {"--cascade",
                &o->cascade,
                "What becomes of owned objects",
                {"background", "foreground", "orphan"}},
               {"--ignore-not-found", &o->ignore_missing, "What is not there is no error"},
               {"--no-wait", &o->no_wait, "Do not wait until they are gone"},
               {"--timeout", &o->timeout, "Wait no longer than this: 30s, 5m"}}),
          .run = [o] { return remove_wanted(*o); }};
}

Verb cancel_verb() {
  const auto o = std::make_shared<DeleteOptions>();
  return {.name = "cancel",
          .group = "Run",
          .help = "Stop a JobSet or Job: its processes end, then it is deleted",
          .flags = with_server_flags(
              o->server,
              {{"names", &o->what, "JobSets or Jobs", {}, true},
               {"--grace-period", &o->grace, "Seconds between SIGTERM and SIGKILL [the pod's]"},
               {"--no-wait", &o->no_wait, "Do not wait until they are gone"},
               {"--timeout", &o->timeout, "Wait no longer than this: 30s, 5m"}}),
          .run = [o] { return cancel(*o); }};
}

}  // namespace muster::cli
