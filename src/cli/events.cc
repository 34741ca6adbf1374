// `muster events`: what has happened, oldest first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/events_text.h"
#include "cli/exit_code.h"
#include "cli/lines.h"
#include "cli/print.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct EventsOptions {
  ServerFlags server;
  std::string object;
  bool all_namespaces = false;
  bool watch = false;
  bool warnings = false;
};

// Of one object: "jobset/x", or a name of whatever kind.
Result<std::string> field_selector(KindCatalog& kinds, const EventsOptions& options) {
  std::vector<std::string> fields;
  if (options.warnings) fields.emplace_back("type=Warning");
  if (!options.object.empty()) {
    const std::size_t slash = options.object.find('/');
    if (slash != std::string::npos) {
      MUSTER_TRY(const api::Resource* const resource, kinds.find(options.object.substr(0, slash)));
      fields.push_back("involvedObject.kind=" + resource->gvk.kind);
    }
    fields.push_back("involvedObject.name=" +
                     options.object.substr(slash == std::string::npos ? 0 : slash + 1));
  }
  return fmt::format("{}", fmt::join(fields, ","));
}

int events(const EventsOptions& options) {
  auto opened = Connection::open(options.server);
  if (!opened) return complain(opened.error());
  Connection& connection = **opened;
  const auto selector = field_selector(connection.kinds(), options);
  if (!selector) return complain(selector.error());
  const api::Resource& resource = *api::Registry::builtin().find("", "v1", "events");
  const std::string ns = options.all_namespaces ? "" : connection.ns();
  const auto list = connection.list(resource, {.ns = ns, .field_selector = *selector});
  if (!list) return complain(list.error());
  json::Arena arena;
  const auto tree = json::parse(arena, *list);
  if (!tree) return complain(tree.error());
  const Clock& clock = connection.loop().clock();
  TextTable table = events_table(event_rows(*tree), clock.now(), true);
  if (table.empty() && !options.watch) {
    fmt::print(stderr, "No events found.\n");
    return kSucceeded;
  }
  fmt::print("{}", table.take());
  std::fflush(stdout);
  if (!options.watch) return kSucceeded;
  Lines lines(kLongestWatchLine);
  Status why;
  const auto print = [&](std::string_view line) {
    json::Arena one;
    const auto event = json::parse(one, line);
    if (!event || event->get("type").as_string() == "BOOKMARK" ||
        event->get("type").as_string() == "DELETED") {
      return;
    }
    TextTable row = events_table({event_row(event->get("object"))}, clock.now(), true);
    fmt::print("{}", row.take(false));
    std::fflush(stdout);
  };
  const auto stream = connection.stream(
      fmt::format(
          "{}?watch=true&resourceVersion={}&fieldSelector={}", client::url_path(resource, ns),
          tree->get({"metadata", "resourceVersion"}).as_string(), client::url_escape(*selector)),
      kJsonForm,
      {.head = {},
       .data = [&](std::string_view data) { lines.take(data, print); },
       .end =
           [&](Status ended) {
             why = std::move(ended);
             connection.loop().stop();
           }});
  connection.loop().run();
  return why ? kSucceeded : complain(why.error());
}

}  // namespace

Verb events_verb() {
  const auto o = std::make_shared<EventsOptions>();
  return {.name = "events",
          .group = "Objects",
          .help = "Show what has happened, oldest first",
          .flags = with_server_flags(
              o->server, {{"object", &o->object, "Only of this one: KIND/NAME or NAME"},
                          {"-A,--all-namespaces", &o->all_namespaces, "Of all namespaces"},
                          {"--warnings", &o->warnings, "Warnings only"},
                          {"-w,--watch", &o->watch, "Then show what comes"}}),
          .run = [o] { return events(*o); }};
}

}  // namespace muster::cli
