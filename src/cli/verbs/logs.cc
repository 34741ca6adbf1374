// `muster logs NAME`: of a pod, a Job or a JobSet, also as they are written and of pods that are
// born later.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "api/views/job_names.h"
#include "base/terminal_text.h"
#include "cli/follow/log_streams.h"
#include "cli/follow/screen.h"
#include "cli/input/connection.h"
#include "cli/input/container_names.h"
#include "cli/input/durations.h"
#include "cli/input/kinds.h"
#include "cli/input/lookup.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/exit_code.h"
#include "cli/verbs/print.h"
#include "client/informer.h"
#include "json/parse.h"

namespace muster::cli {
namespace {

struct LogsOptions {
  ServerFlags server;
  std::string name;
  std::string container;
  std::string labels;
  std::string prefix;
  std::string patience{kUsualPatience};
  std::int64_t tail = -1;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
};

// Whose logs are wanted.
struct Subject {
  std::string pod;                       // one, by name; or
  std::string labels;                    // those with these labels
  std::string job_set;                   // cut from names
  const api::Resource* owner = nullptr;  // whose end ends -f; none: the pod's own
  std::string owner_name;
  std::string owner_uid;  // one of the same name may have been there before
  std::string words;      // for messages: "jobset train"
  ContainerNames containers;
};

Subject subject_of(const Found& found) {
  json::Arena arena;
  const auto object = json::parse(arena, found.body);
  const ContainerNames containers = container_names(object ? *object : json::Value());
  const std::string words = fmt::format("{} {}", found.resource->singular, plain_text(found.name));
  if (found.resource == &pods()) {
    return {.pod = found.name,
            .labels = {},
            .job_set = {},
            .owner_name = {},
            .owner_uid = {},
            .words = words,
            .containers = containers};
  }
  const bool is_set = found.resource == &job_sets();
  const std::string uid = uid_of(found);
  return {.pod = {},
          .labels =
              is_set ? pods_of_job_set(uid) : fmt::format("{}={}", api::label::kControllerUid, uid),
          .job_set = is_set ? found.name : "",
          .owner = found.resource,
          .owner_name = found.name,
          .owner_uid = uid,
          .words = words,
          .containers = containers};
}

bool has_ended(json::Value owner) {
  for (const json::Value condition : owner.get({"status", "conditions"}).items()) {
    const std::string_view type = condition.get("type").as_string();
    if (condition.get("status").as_string() == "True" &&
        (type == "Completed" || type == "Complete" || type == "Failed")) {
      return true;
    }
  }
  return false;
}

Prefix prefix_of(const LogsOptions& options, const Subject& subject) {
  if (options.prefix.empty()) return subject.pod.empty() ? Prefix::kName : Prefix::kNone;
  return parse_prefix(options.prefix);
}

class Logs {
 public:
  Logs(Connection& connection, const LogsOptions& options, Subject subject)
      : connection_(connection),
        options_(options),
        subject_(std::move(subject)),
        book_(subject_.job_set, {.follow = options.follow,
                                 .previous = options.previous,
                                 .timestamps = options.timestamps,
                                 .container = options.container,
                                 .tail = options.tail,
                                 .prefix = prefix_of(options, subject_),
                                 .colours = wants_colours(1)}),
        streams_(connection.client(), connection.ns(), book_.options(),
                 {.line = [this](const auto& log, const auto& line) { print(log, line); },
                  .ended = [this](const auto& log, const auto& refusal) { ended(log, refusal); }}) {
    connection.on_absence([](std::string_view line) { fmt::print(stderr, "{}\n", line); },
                          [this](const Error& why) {
                            lost_ = why;
                            connection_.loop().stop();
                          });
  }

  int run() {
    client::Informer pods_there(
        connection_.client(), pods(),
        {.ns = connection_.ns(),
         .label_selector = subject_.labels,
         .field_selector = subject_.pod.empty() ? "" : "metadata.name=" + subject_.pod});
    pods_there.on_change([this](const auto& before, const auto& after) { look(before, after); });
    pods_there.on_synced([this] {
      pods_known_ = true;
      end_if_over();
    });
    std::optional<client::Informer> owner;
    if (options_.follow && subject_.owner != nullptr) {
      owner.emplace(connection_.client(), *subject_.owner,
                    client::ListOptions{.ns = connection_.ns(),
                                        .field_selector = "metadata.name=" + subject_.owner_name});
      owner->on_change([this](const auto&, const auto& after) { look_at_owner(after); });
      owner->start();
    }
    pods_there.start();
    connection_.loop().run();
    if (lost_) return complain(*lost_);
    if (seen_ == 0 && live_.empty())
      return complain({.code = Code::kNotFound, .message = "there is no pod yet"}, kRefused);
    if (lacks_container()) return complain(no_container(), kRefused);
    if (refusal_.empty()) return kSucceeded;
    return complain({.code = Code::kBadRequest, .message = refusal_}, kRefused);
  }

 private:
  void look(const client::ObjectPtr& before, const client::ObjectPtr& after) {
    if (!after) {
      live_.erase(before->meta().uid);
      return end_if_over();
    }
    json::Arena arena;
    const auto pod = json::parse(arena, after->bytes());
    if (!pod) return;
    const story::PodFacts facts = story::pod_facts(*pod);
    ++seen_;
    look_at_containers(*pod);
    if (facts.has_ended()) {
      live_.erase(facts.uid);
    } else {
      live_.insert(facts.uid);
    }
    for (LogRun& log : book_.look(facts)) streams_.read(std::move(log));
    end_if_over();
  }

  void print(const LogRun& log, const LogPosition::Line& line) const {
    const std::string text = log_line_text(line.time, line.text, book_.options());
    fmt::print("{}\n", log_line(log.prefix, text, book_.options()));
    std::fflush(stdout);
  }

  void ended(const LogRun& log, const std::string& refusal) {
    if (!refusal.empty()) refusal_ = refusal;
    if (auto next = book_.ended(log)) streams_.read(*std::move(next));
    end_if_over();
  }

  void look_at_containers(json::Value pod) {
    has_container_ |= container_names(pod).has(options_.container);
    subject_.containers.add(pod.get("spec"));
    if (subject_.words.empty())
      subject_.words = "pod " + plain_text(pod.get({"metadata", "name"}).as_string());
  }

  // Of the pods that there are, none has the container that is asked for.
  bool lacks_container() const {
    return !options_.container.empty() && seen_ > 0 && !has_container_;
  }

  // kubectl's words, unless pods that come later may have it.
  Error no_container() const {
    const std::string wanted = plain_text(options_.container);
    if (subject_.containers.has(options_.container))
      return {.code = Code::kNotFound,
              .message = "there is no pod with container " + wanted + " yet"};
    return {.code = Code::kBadRequest,
            .message = fmt::format("container {} is not valid for {} out of: {}", wanted,
                                   subject_.words, subject_.containers.text())};
  }

  void look_at_owner(const client::ObjectPtr& after) {
    json::Arena arena;
    const auto tree = after ? json::parse(arena, after->bytes()) : json::parse(arena, "{}");
    owner_ended_ = !after || after->meta().uid != subject_.owner_uid || (tree && has_ended(*tree));
    end_if_over();
  }

  // Without -f: when what is there has been read. With it: when nothing more can come.
  void end_if_over() {
    if (!pods_known_ || !book_.all_ended()) return;
    const bool can_come = !lacks_container() || subject_.containers.has(options_.container);
    const bool more = options_.follow && can_come &&
                      (!live_.empty() || (subject_.owner != nullptr && !owner_ended_));
    if (!more) connection_.loop().stop();
  }

  Connection& connection_;
  const LogsOptions& options_;
  Subject subject_;
  LogBook book_;
  LogStreams streams_;
  std::string refusal_;  // the last one
  std::set<std::string> live_;
  std::size_t seen_ = 0;
  bool pods_known_ = false;
  bool has_container_ = false;
  bool owner_ended_ = false;
  std::optional<Error> lost_;
};

int logs(const LogsOptions& options) {
  if (options.name.empty() == options.labels.empty())
    return misused("say whose logs", "muster logs NAME, or -l LABELS");
  const auto patience = parse_duration(options.patience, "--patience");
  if (!patience) return complain(patience.error(), kUsage);
  auto connection = Connection::open_reconnecting(options.server, *patience);
  if (!connection) return complain(connection.error());
  if (!options.labels.empty()) {
    Subject by_labels;
    by_labels.labels = options.labels;
    return Logs(**connection, options, std::move(by_labels)).run();
  }
  const auto found = find_object(**connection, options.name, {&job_sets(), &jobs(), &pods()});
  if (!found) return complain(found.error());
  if (found->resource != &pods() && found->resource != &jobs() && found->resource != &job_sets())
    return misused(fmt::format("a {} has no logs", found->resource->singular));
  return Logs(**connection, options, subject_of(*found)).run();
}

}  // namespace

Verb logs_verb() {
  const auto o = std::make_shared<LogsOptions>();
  return {.name = "logs",
          .group = "Objects",
          .help = "Show the logs of a JobSet, a Job or a pod: logs NAME -f",
          .flags = with_server_flags(
              o->server,
              {{"name", &o->name, "A JobSet, a Job or a pod; KIND/NAME says which"},
               {"-f,--follow", &o->follow, "Go on as they are written, also with pods born later"},
               {"-c,--container", &o->container, "Of this container only"},
               {"-l,--selector", &o->labels, "Of the pods with these labels"},
               {"-t,--timestamps", &o->timestamps, "The time before each line"},
               {"--tail", &o->tail, "Only the last so many lines of each"},
               {"--patience", &o->patience, std::string(kPatienceHelp)},
               {"-p,--previous", &o->previous, "Of the run before the present one"},
               {"--prefix", &o->prefix, "What stands before a line", prefix_words()}}),
          .run = [o] { return logs(*o); }};
}

}  // namespace muster::cli
