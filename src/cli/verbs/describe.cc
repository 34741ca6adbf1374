// `muster describe KIND NAME`: one object with what belongs to it.
#include <fmt/format.h>

#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "story/describe_text.h"

namespace muster::cli {
namespace {

using json::Value;

struct DescribeOptions {
  ServerFlags server;
  std::vector<std::string> what;
  std::string labels;
};

Result<std::vector<story::EventRow>> events_of(Connection& connection, Value object) {
  const std::string_view kind = object.get("kind").as_string();
  MUSTER_TRY(
      const std::string list,
      connection.list(*api::Registry::builtin().find("", "v1", "events"),
                      {.ns = std::string(object.get({"metadata", "namespace"}).as_string()),
                       .field_selector = fmt::format(
                           "involvedObject.kind={},involvedObject.name={},involvedObject.uid={}",
                           kind, object.get({"metadata", "name"}).as_string(),
                           object.get({"metadata", "uid"}).as_string())}));
  json::Arena arena;
  MUSTER_TRY(const Value tree, json::parse(arena, list));
  return story::event_rows(tree);
}

Result<std::string> text_of(Connection& connection, const api::Resource& resource,
                            const std::string& name) {
  json::Arena arena;
  auto body = connection.get(resource, name);
  if (!body) return std::unexpected(explain_missing(connection, resource, name, body.error()));
  MUSTER_TRY(const Value object, json::parse(arena, *body));
  MUSTER_TRY(const auto events, events_of(connection, object));
  const Time now = connection.loop().clock().now();
  if (&resource != &job_sets()) return story::describe_object(object, events, now);
  MUSTER_TRY(const std::string list,
             connection.list(pods(), {.ns = connection.ns(),
                                      .label_selector = pods_of_job_set(
                                          object.get({"metadata", "uid"}).as_string())}));
  MUSTER_TRY(const Value tree, json::parse(arena, list));
  const auto items = tree.get("items").items();
  return story::describe_job_set(object, {items.begin(), items.end()}, events, now);
}

Result<std::vector<std::string>> all_names(Connection& connection, const api::Resource& resource,
                                           const std::string& labels) {
  MUSTER_TRY(const std::string list,
             connection.list(resource, {.ns = resource.namespaced ? connection.ns() : "",
                                        .metadata_only = true,
                                        .label_selector = labels}));
  json::Arena arena;
  MUSTER_TRY(const Value tree, json::parse(arena, list));
  std::vector<std::string> names;
  for (const Value item : tree.get("items").items())
    names.emplace_back(item.get({"metadata", "name"}).as_string());
  return names;
}

int describe(const DescribeOptions& options) {
  if (options.what.empty())
    return misused("say what to describe", "muster describe KIND NAME, or the name of a JobSet");
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto wanted = find_wanted(**connection, options.what, BareName::kIsJobSet);
  if (!wanted) return complain(wanted.error());
  bool first = true;
  for (const Wanted& kind : *wanted) {
    const auto names = kind.names.empty() ? all_names(**connection, *kind.resource, options.labels)
                                          : Result<std::vector<std::string>>(kind.names);
    if (!names) return complain(names.error());
    for (const std::string& name : *names) {
      const auto text = text_of(**connection, *kind.resource, name);
      if (!text) return complain(text.error());
      fmt::print("{}{}", std::exchange(first, false) ? "" : "\n", *text);
    }
  }
  if (first)
    fmt::print(stderr, "No resources found in {} namespace.\n", plain_text((*connection)->ns()));
  return kSucceeded;
}

}  // namespace

Verb describe_verb() {
  const auto o = std::make_shared<DescribeOptions>();
  return {.name = "describe",
          .group = "Objects",
          .help = "Show an object with what belongs to it: describe jobset NAME",
          .flags = with_server_flags(
              o->server, {{"what", &o->what, "KIND [NAME...], KIND/NAME..., or names of JobSets"},
                          {"-l,--selector", &o->labels, "Those with these labels"}}),
          .run = [o] { return describe(*o); }};
}

}  // namespace muster::cli
