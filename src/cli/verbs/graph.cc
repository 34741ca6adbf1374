// `muster graph NAME`: the order in which the parts of a JobSet start.
#include <fmt/format.h>

#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/input/manifest.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "json/parse.h"
#include "story/graph_text.h"

namespace muster::cli {
namespace {

struct GraphOptions {
  ServerFlags server;
  std::string name;
  std::string file;
  std::string output = "text";
};

// Of a file, without a server, or of one that is stored.
Result<std::string> job_set_body(const GraphOptions& options) {
  if (options.file.empty()) {
    MUSTER_TRY(const auto connection, Connection::open(options.server));
    MUSTER_TRY(Found found, find_object(*connection, options.name, {&job_sets()}));
    if (found.resource != &job_sets())
      return fail(Code::kInvalid, "only JobSets have stages to draw");
    return std::move(found.body);
  }
  MUSTER_TRY(const Manifest manifest, Manifest::read(options.file, "default"));
  for (const ManifestObject& object : manifest.objects()) {
    if (object.resource == &job_sets()) return object.body;
  }
  return std::unexpected(no_job_set(manifest));
}

int draw(const GraphOptions& options) {
  if (options.name.empty() == options.file.empty())
    return misused("say which JobSet to draw", "muster graph NAME, or -f FILE");
  const auto body = job_set_body(options);
  if (!body) return complain_verbatim(body.error());
  json::Arena arena;
  const auto tree = json::parse(arena, *body);
  if (!tree) return complain(tree.error());
  fmt::print("{}", story::graph(api::read_job_set(*tree), options.output));
  return kSucceeded;
}

}  // namespace

Verb graph_verb() {
  const auto o = std::make_shared<GraphOptions>();
  return {.name = "graph",
          .group = "Understand",
          .help = "Draw which part of a JobSet starts after which",
          .flags = with_server_flags(
              o->server, {{"name", &o->name, "A JobSet"},
                          {"-f,--filename", &o->file, "That of a file, - is standard input"},
                          {"-o,--output", &o->output, "Form [text]", {"text", "dot", "mermaid"}}}),
          .run = [o] { return draw(*o); }};
}

}  // namespace muster::cli
