// `muster timeline NAME`: what ran when.
#include <fmt/format.h>

#include "api/views/views.h"
#include "cli/follow/screen.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "story/timeline_text.h"

namespace muster::cli {
namespace {

using json::Value;

struct TimelineOptions {
  ServerFlags server;
  std::string name;
  std::string output = "text";
};

Result<story::Timeline> draw(Connection& connection, const Found& found) {
  json::Arena arena;
  const auto list = [&](const api::Resource& resource, client::ListOptions which) -> Result<Value> {
    which.ns = connection.ns();
    MUSTER_TRY(const std::string body, connection.list(resource, std::move(which)));
    return json::parse(arena, body);
  };
  MUSTER_TRY(const Value set, json::parse(arena, found.body));
  MUSTER_TRY(const Value present, list(pods(), {.label_selector = pods_of_job_set(uid_of(found))}));
  MUSTER_TRY(const Value events, list(*api::Registry::builtin().find("", "v1", "events"),
                                      {.field_selector = "involvedObject.kind=Pod"}));
  std::vector<story::PodFacts> facts;
  for (const Value pod : present.get("items").items()) facts.push_back(story::pod_facts(pod));
  return story::timeline_of(api::read_job_set(set), facts, story::event_rows(events),
                            connection.loop().clock().now());
}

int timeline(const TimelineOptions& options) {
  auto connection = Connection::open(options.server);
  if (!connection) return complain(connection.error());
  const auto found = find_object(**connection, options.name, {&job_sets()});
  if (!found) return complain(found.error());
  if (found->resource != &job_sets()) return misused("only JobSets have a timeline");
  const auto drawn = draw(**connection, *found);
  if (!drawn) return complain(drawn.error());
  fmt::print("{}", story::print_timeline(*drawn, options.output, terminal_width()));
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
