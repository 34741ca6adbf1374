// `muster submit -- COMMAND`: a JobSet made of flags.
#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "api/views/conditions.h"
#include "api/views/views.h"
#include "base/terminal_text.h"
#include "cli/follow/until.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/input/manifest.h"
#include "cli/input/submit_job_set.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/output.h"
#include "cli/verbs/print.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kMostGpus = 1024;

struct SubmitOptions {
  ServerFlags server;
  Submission submission;
  std::vector<std::string> after;
  bool print = false;
};

struct After {
  bool must_succeed = true;
  std::string name;
};

// "ok:NAME" or "any:NAME".
Result<After> parse_after(std::string_view text) {
  if (text.starts_with("ok:")) return After{true, std::string(text.substr(3))};
  if (text.starts_with("any:")) return After{false, std::string(text.substr(4))};
  return fail(Code::kInvalid,
              fmt::format("--after {}: it takes ok:NAME (has succeeded) or any:NAME (has ended)",
                          plain_text(text)));
}

// Waits here: a JobSet cannot depend on another one.
int wait_for(Connection& connection, const After& after) {
  const auto found = find_object(connection, after.name, {&job_sets()});
  if (!found) return complain(found.error());
  fmt::print(stderr, "waiting for {} to {}\n", plain_text(after.name),
             after.must_succeed ? "succeed" : "end");
  bool completed = false, gone = false;
  const auto ended = wait_until(connection, job_sets(), connection.ns(), found->name, std::nullopt,
                                [&](json::Value set) {
                                  gone = set.is_null();
                                  completed = api::has_condition(set, "Completed");
                                  return gone || completed || api::has_condition(set, "Failed");
                                });
  if (!ended) return complain(ended.error());
  if (completed || !after.must_succeed) return kSucceeded;
  fmt::print(stderr, "error: {} {}: nothing was submitted\n", plain_text(after.name),
             gone ? "was deleted" : "has failed");
  return kCancelled;
}

// The JobSet would wait for ever in a queue that nobody works on, so it is not even created. Who
// does says so in the queue's condition Active.
int check_queue(Connection& connection, const std::string& name) {
  const auto kind = connection.kinds().find("localqueues.kueue.x-k8s.io");
  if (!kind && kind.error().code == Code::kNotFound)
    return complain({.code = Code::kNotFound, .message = "--queue: this server has no queues"});
  if (!kind) return complain(kind.error());
  const auto body = connection.get(**kind, name);
  if (!body) return complain(explain_missing(connection, **kind, name, body.error()));
  json::Arena arena;
  const auto queue = json::parse(arena, *body);
  if (!queue) return complain(queue.error());
  for (const api::Condition& condition :
       api::read_conditions(queue->get({"status", "conditions"}))) {
    if (condition.type != "Active") continue;
    if (condition.status != "True")
      fmt::print(stderr, "warning: the queue {} admits nothing now: {}\n", plain_text(name),
                 plain_text(condition.message));
    return kSucceeded;
  }
  return complain({.code = Code::kInvalid,
                   .message = fmt::format("--queue {}: no queue controller works here, so the "
                                          "JobSet would wait for ever; nothing was submitted",
                                          name)});
}

bool is_of_this_machine(std::string_view url) {
  return url.contains("//127.") || url.contains("//localhost") || url.contains("//[::1]");
}

// A server of this machine runs it where it was submitted; another one has other folders.
void choose_folder(SubmitOptions& options) {
  if (!options.submission.working_directory.empty()) return;
  const auto server = find_server(options.server);
  if (server && !is_of_this_machine(server->url)) return;
  std::error_code ignored;
  options.submission.working_directory = std::filesystem::current_path(ignored);
}

int submit(SubmitOptions options) {
  std::vector<After> after;
  for (const std::string& text : options.after) {
    auto parsed = parse_after(text);
    if (!parsed) return complain(parsed.error(), kUsage);
    after.push_back(*std::move(parsed));
  }
  choose_folder(options);
  const auto text = submitted_job_set(options.submission);
  if (!text) return complain(text.error(), kUsage);
  if (options.print) {
    fmt::print("{}", *text);
    return kSucceeded;
  }
  auto opened = Connection::open(options.server);
  if (!opened) return complain(opened.error());
  Connection& connection = **opened;
  if (!options.submission.queue.empty()) {
    if (const int code = check_queue(connection, options.submission.queue); code != kSucceeded)
      return code;
  }
  for (const After& one : after) {
    if (const int code = wait_for(connection, one); code != kSucceeded) return code;
  }
  const auto manifest = Manifest::parse("the JobSet", *text, connection.ns());
  if (!manifest) return complain_verbatim(manifest.error());
  const ManifestObject& object = manifest->objects().front();
  const auto created = connection.write({.verb = client::Verb::kCreate,
                                         .resource = object.resource,
                                         .ns = object.ns,
                                         .body = object.body,
                                         .strict = true});
  if (!created) return complain(explain_unserved(job_sets(), created.error()));
  json::Arena arena;
  const auto tree = json::parse(arena, *created);
  if (!tree) return complain(tree.error());
  fmt::print("{}\n", object_name(*tree));
  return kSucceeded;
}

}  // namespace

Verb submit_verb() {
  const auto o = std::make_shared<SubmitOptions>();
  Submission& s = o->submission;
  return {.name = "submit",
          .group = "Run",
          .help = "Hand a command to a server as a JobSet: submit -N 4 -- python train.py",
          .flags = with_server_flags(
              o->server,
              {{"command", &s.command, "The program and its arguments, after --"},
               {"-N,--processes",
                &s.processes,
                "So many, with ranks, started together [1]",
                {},
                false,
                Range{1, kMaxProcesses}},
               {"--gpus", &s.gpus, "Per process", {}, false, Range{0, kMostGpus}},
               {"--cpus", &s.cpus, "Per process: 2, 500m"},
               {"--memory", &s.memory, "Per process: 4Gi"},
               {"--name", &s.name, "Of the JobSet [made of the program's]"},
               {"--max-restarts",
                &s.max_restarts,
                "How often all of it is restarted [0]",
                {},
                false,
                Range{0, std::numeric_limits<std::int32_t>::max()}},
               {"--env", &s.environment, "NAME=VALUE"},
               {"--chdir", &s.working_directory, "Where it runs [here, on a local server]"},
               {"--image", &s.image, "For a cluster that runs containers"},
               {"-q,--queue", &s.queue, "The LocalQueue that admits it"},
               {"--after", &o->after, "Wait first: ok:NAME has succeeded, any:NAME has ended"},
               {"--print", &o->print, "Print the JobSet instead"}}),
          .run = [o] { return submit(*o); }};
}

}  // namespace muster::cli
