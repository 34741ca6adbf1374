// `muster timeline NAME`: what ran when.
#include <fmt/format.h>

#include "api/views.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/kinds.h"
#include "cli/lookup.h"
#include "cli/print.h"
#include "cli/screen.h"
#include "cli/timeline_text.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct TimelineOptions {
  ServerFlags server;
  std::string name;
  std::string output = "text";
};

int timeline(const TimelineOptions& options) {
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto found = find_object(**connection, options.name, {&job_sets()});
  if (!found) return complain(found.error());
  if (found->resource != &job_sets()) return misused("only JobSets have a timeline");
  json::Arena arena;
  const auto set = json::parse(arena, found->body);
  if (!set) return complain(set.error());
  const auto list =
      (*connection)
          ->list(pods(), {.ns = (*connection)->ns(),
                          .label_selector = "jobset.sigs.k8s.io/jobset-name=" + found->name});
  if (!list) return complain(list.error());
  const auto tree = json::parse(arena, *list);
  if (!tree) return complain(tree.error());
  std::vector<PodFacts> facts;
  for (const json::Value pod : tree->get("items").items()) facts.push_back(pod_facts(pod));
  const auto events =
      (*connection)
          ->list(*api::Registry::builtin().find("", "v1", "events"),
                 {.ns = (*connection)->ns(), .field_selector = "involvedObject.kind=Pod"});
  const auto event_list = json::parse(arena, events ? *events : "{}");
  const Timeline drawn = timeline_of(api::read_job_set(*set), facts,
                                     event_list ? event_rows(*event_list) : std::vector<EventRow>(),
                                     (*connection)->loop().clock().now());
  fmt::print("{}", print_timeline(drawn, options.output, Screen({.progress = false}).width()));
  return kSucceeded;
}

}  // namespace

Verb timeline_verb() {
  const auto o = std::make_shared<TimelineOptions>();
  return {.name = "timeline",
          .group = "Understand",
          .help = "Draw when the pods of a JobSet waited and ran",
          .flags = with_server_flags(
              o->server,
              {{"name", &o->name, "A JobSet", {}, true},
               {"-o,--output", &o->output, "Form [text]", {"text", "json", "svg", "perfetto"}}}),
          .run = [o] { return timeline(*o); }};
}

}  // namespace muster::cli
