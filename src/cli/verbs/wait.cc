// `muster wait --for=…`: until objects are as wanted.
#include <fmt/format.h>

#include "base/terminal_text.h"
#include "cli/follow/until.h"
#include "cli/input/connection.h"
#include "cli/input/durations.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/input/wait_condition.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct WaitOptions {
  ServerFlags server;
  std::vector<std::string> what;
  std::string condition;
  std::string timeout = "30s";
  std::string labels;
  bool all = false;
};

Result<std::vector<std::string>> names_of(Connection& connection, const Wanted& kind,
                                          const WaitOptions& options) {
  if (!kind.names.empty()) return kind.names;
  if (!options.all && options.labels.empty())
    return fail(Code::kInvalid,
                fmt::format("say which {}: names, -l LABELS or --all", kind.resource->plural));
  MUSTER_TRY(const std::string list,
             connection.list(
                 *kind.resource,
                 {.ns = connection.ns(), .metadata_only = true, .label_selector = options.labels}));
  json::Arena arena;
  MUSTER_TRY(const json::Value tree, json::parse(arena, list));
  std::vector<std::string> names;
  for (const json::Value item : tree.get("items").items())
    names.emplace_back(item.get({"metadata", "name"}).as_string());
  return names;
}

// A JobSet that has failed will never be complete: the exit code of that.
std::optional<int> hopeless(const WaitCondition& wanted, const api::Resource& resource,
                            json::Value object) {
  if (resource.gvk.kind != "JobSet" || wanted.deletion()) return std::nullopt;
  if (!wanted.is_condition("completed") || !has_ended_badly(object)) return std::nullopt;
  return kJobSetFailed;
}

int wait_for(Connection& connection, const api::Resource& resource, const std::string& name,
             const WaitCondition& wanted, std::optional<Duration> timeout) {
  const std::string ns = resource.namespaced ? connection.ns() : "";
  const auto there = connection.get(client::url_path(resource, ns, name));
  const bool missing = !there && there.error().code == Code::kNotFound;
  if (missing && !wanted.deletion())
    return complain(explain_missing(connection, resource, name, there.error()));
  std::optional<int> failed;
  bool vanished = false;
  const auto done = wait_until(connection, resource, ns, name, timeout, [&](json::Value object) {
    if (object.is_null()) return wanted.deletion() || (vanished = true);
    failed = hopeless(wanted, resource, object);
    return failed.has_value() || wanted.holds(object);
  });
  if (!done) return complain(done.error());
  if (failed) {
    fmt::print(stderr, "error: {}/{} has failed\n", qualified_singular(resource), plain_text(name));
    return *failed;
  }
  if (vanished) {
    fmt::print(stderr, "error: {}/{} was deleted\n", qualified_singular(resource),
               plain_text(name));
    return kCancelled;
  }
  fmt::print("{}/{} {}\n", qualified_singular(resource), plain_text(name),
             wanted.deletion() ? "deleted" : "condition met");
  return kSucceeded;
}

int wait(const WaitOptions& options) {
  const auto wanted = WaitCondition::parse(options.condition);
  if (!wanted) return complain(wanted.error(), kUsage);
  const bool for_ever = options.timeout.starts_with('-');
  const auto timeout = parse_duration(for_ever ? "0" : options.timeout, "--timeout");
  if (!timeout) return complain(timeout.error(), kUsage);
  if (options.what.empty())
    return misused("say what to wait for", "muster wait --for=condition=Completed jobset/NAME");
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto kinds = find_wanted(**connection, options.what, BareName::kIsJobSet);
  if (!kinds) return complain(kinds.error());
  for (const Wanted& kind : *kinds) {
    const auto names = names_of(**connection, kind, options);
    if (!names) return complain(names.error());
    if (names->empty() && !wanted->deletion())
      return complain({.code = Code::kNotFound, .message = "no matching resources found"});
    for (const std::string& name : *names) {
      const int code = wait_for(**connection, *kind.resource, name, *wanted,
                                for_ever ? std::nullopt : std::optional(*timeout));
      if (code != kSucceeded) return code;
    }
  }
  return kSucceeded;
}

}  // namespace

Verb wait_verb() {
  const auto o = std::make_shared<WaitOptions>();
  return {.name = "wait",
          .group = "Objects",
          .help = "Wait until objects are as wanted: wait --for=condition=Completed jobset/NAME",
          .flags = with_server_flags(
              o->server, {{"what", &o->what, "KIND NAME..., KIND/NAME..., or names of JobSets"},
                          {"--for",
                           &o->condition,
                           "condition=TYPE[=STATUS], delete, or jsonpath={PATH}[=VALUE]",
                           {},
                           true},
                          {"--timeout", &o->timeout, "30s, 10m; -1 waits for ever [30s]"},
                          {"-l,--selector", &o->labels, "Those with these labels"},
                          {"--all", &o->all, "All of the kind in the namespace"}}),
          .run = [o] { return wait(*o); }};
}

}  // namespace muster::cli
