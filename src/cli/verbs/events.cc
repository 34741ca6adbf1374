// `muster events`: what has happened, oldest first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "cli/input/connection.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "story/events_text.h"

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

class Events {
 public:
  Events(Connection& connection, const EventsOptions& options, std::string selector)
      : connection_(connection),
        selector_(std::move(selector)),
        ns_(options.all_namespaces ? "" : connection.ns()),
        whose_(options.all_namespaces ? story::EventsOf::kAllNamespaces
                                      : story::EventsOf::kNamespace),
        table_(story::events_table({}, Time{}, whose_)) {}

  // What is there; the revision from which to go on.
  Result<std::string> show() {
    MUSTER_TRY(const std::string list,
               connection_.list(resource_, {.ns = ns_, .field_selector = selector_}));
    json::Arena arena;
    MUSTER_TRY(const json::Value tree, json::parse(arena, list));
    for (const story::EventRow& row : story::event_rows(tree))
      story::add_event(table_, row, now(), whose_);
    found_ = !table_.empty();
    print();
    return std::string(tree.get({"metadata", "resourceVersion"}).as_string());
  }

  bool found() const { return found_; }

  int follow(std::string_view revision) {
    const Status ended = connection_.watch(
        fmt::format("{}?watch=true&resourceVersion={}&fieldSelector={}",
                    client::url_path(resource_, ns_), revision, client::url_escape(selector_)),
        kJsonForm, [&](std::string_view line) { took(line); });
    return ended ? kSucceeded : complain(ended.error());
  }

 private:
  void took(std::string_view line) {
    json::Arena arena;
    const auto event = json::parse(arena, line);
    const std::string_view type = event ? event->get("type").as_string() : "";
    if (type != "ADDED" && type != "MODIFIED") return;
    story::add_event(table_, story::event_row(event->get("object")), now(), whose_);
    print();
  }

  void print() {
    fmt::print("{}", table_.take());
    std::fflush(stdout);
  }

  Time now() const { return connection_.loop().clock().now(); }

  Connection& connection_;
  const api::Resource& resource_ = *api::Registry::builtin().find("", "v1", "events");
  std::string selector_;
  std::string ns_;  // empty: all
  story::EventsOf whose_;
  story::TextTable table_;
  bool found_ = false;
};

int events(const EventsOptions& options) {
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  auto selector = field_selector((*connection)->kinds(), options);
  if (!selector) return complain(selector.error());
  Events events(**connection, options, *std::move(selector));
  const auto revision = events.show();
  if (!revision) return complain(revision.error());
  if (options.watch) return events.follow(*revision);
  if (!events.found()) fmt::print(stderr, "No events found.\n");
  return kSucceeded;
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
