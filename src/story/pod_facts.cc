#include "story/pod_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/tables/table_row.h"
#include "api/views/conditions.h"
#include "api/views/job_names.h"
#include "api/views/job_set_names.h"
#include "api/views/pod_summary.h"
#include "base/number.h"
#include "base/terminal_text.h"

namespace muster::story {
namespace {

using json::Value;

constexpr std::int64_t kStopped = 143;  // by SIGTERM
constexpr std::size_t kMaxLastWords = 300;

std::string text_at(Value object, std::initializer_list<std::string_view> path) {
  return std::string(object.get(path).as_string());
}

std::string label(Value pod, std::string_view name) {
  return std::string(pod.get({"metadata", "labels", name}).as_string());
}

std::string index_of(Value pod) {
  const std::string by_label = label(pod, api::kCompletionIndex);
  if (!by_label.empty()) return by_label;
  return std::string(pod.get({"metadata", "annotations", api::kCompletionIndex}).as_string());
}

// The Job's first rank plus the index (muster.dev/rank-env).
std::string rank_of(Value pod, const std::string& index) {
  const auto offset = parse_number<std::int32_t>(
      pod.get({"metadata", "annotations", api::annotation::kRankOffset}).as_string());
  const auto number = parse_number<std::int32_t>(index);
  if (!offset || !number) return index;
  return std::to_string(std::int64_t{*offset} + *number);
}

void keep_earlier(std::optional<Time>& kept, std::optional<Time> other) {
  if (other && (!kept || *other < *kept)) kept = other;
}

void keep_later(std::optional<Time>& kept, std::optional<Time> other) {
  if (other && (!kept || *other > *kept)) kept = other;
}

void read_end(PodFacts& facts, const std::string& container, Value ended, bool is_main) {
  ContainerEnd end{.container = container,
                   .code = ended.get("exitCode").as_int(),
                   .reason = text_at(ended, {"reason"}),
                   .message = text_at(ended, {"message"}),
                   .at = api::time_of(ended.get("finishedAt"))};
  keep_later(facts.finished, end.at);
  if (is_main && facts.exit_code.value_or(0) == 0) facts.exit_code = end.code;
  if (end.code == 0) return;
  if (!is_main) facts.exit_code = end.code;
  if (!facts.failure || (end.at && facts.failure->at && *end.at < *facts.failure->at))
    facts.failure = std::move(end);
}

bool never_ran(Value run) {
  const std::string_view reason = run.get("reason").as_string();
  return reason == "StartError" || reason == "ContainerCannotRun";
}

// `run` is the state of the run that the log is of; null if there is none.
void add_log(PodFacts& facts, Value status, Value run) {
  const std::string name = text_at(status, {"name"});
  // Without an identity nothing was made: its pod was stopped before its turn.
  const bool was_made = !text_at(status, {"containerID"}).empty();
  if (run.is_object() && was_made && !never_ran(run) && name != api::kBarrierContainer)
    facts.logs.push_back({name, status.get("restartCount").as_int()});
}

void read_status(PodFacts& facts, Value status, bool is_main) {
  const std::string name = text_at(status, {"name"});
  const Value state = status.get("state");
  if (const Value waiting = state.get("waiting"); waiting.is_object() || state.empty()) {
    const std::string reason = text_at(waiting, {"reason"}),
                      message = text_at(waiting, {"message"});
    const bool usual =
        reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing";
    if (!usual && facts.trouble.empty()) {
      facts.trouble = message.empty() ? reason : fmt::format("{}: {}", reason, message);
      facts.trouble_reason = reason;
    }
    // Between two runs the log is that of the last one.
    add_log(facts, status, status.get({"lastState", "terminated"}));
    return;
  }
  const Value running = state.get("running"), ended = state.get("terminated");
  keep_earlier(facts.started, api::time_of(running.get("startedAt")));
  if (!never_ran(ended)) keep_earlier(facts.started, api::time_of(ended.get("startedAt")));
  facts.at_barrier |= running.is_object() && name == api::kBarrierContainer;
  if (ended.is_object()) read_end(facts, name, ended, is_main);
  add_log(facts, status, running.is_object() ? running : ended);
}

}  // namespace

std::string ContainerEnd::text() const {
  const std::string said = plain_text(message);
  if (reason == "StartError" || reason == "ContainerCannotRun")
    return fmt::format("could not start{}{}", said.empty() ? "" : ": ", said);
  const bool plain = reason.empty() || reason == "Error" || reason == "Completed";
  std::string out = fmt::format("exit code {}", code);
  if (code > 128) out += fmt::format(", killed by signal {}", code - 128);
  if (!plain) out += fmt::format(" ({})", plain_text(reason));
  if (!said.empty()) out += ": " + cut_to(said, kMaxLastWords);
  return out;
}

PodFacts pod_facts(Value pod) {
  PodFacts facts;
  facts.name = text_at(pod, {"metadata", "name"});
  facts.uid = text_at(pod, {"metadata", "uid"});
  facts.stage = label(pod, api::label::kReplicatedJobName);
  facts.job = label(pod, api::label::kJobName);
  facts.job_index = label(pod, api::label::kJobIndex);
  facts.attempt = label(pod, api::label::kRestartAttempt);
  facts.pod_index = index_of(pod);
  facts.rank = rank_of(pod, facts.pod_index);
  facts.node = text_at(pod, {"spec", "nodeName"});
  facts.phase = text_at(pod, {"status", "phase"});
  facts.status = api::summarize_pod(pod).status;
  facts.ready = api::has_condition(pod, "Ready");
  facts.created = api::time_of(pod.get({"metadata", "creationTimestamp"}));
  const Value scheduled = api::find_condition(pod, "PodScheduled");
  if (scheduled.get("status").as_string() == "False") {
    const std::string_view message = scheduled.get("message").as_string();
    facts.unschedulable = without_preemption(message);
    facts.lacking = lacking(pod, message);
    if (facts.unschedulable.empty()) facts.unschedulable = text_at(scheduled, {"reason"});
  }
  const Value init = pod.get({"status", "initContainerStatuses"}),
              main = pod.get({"status", "containerStatuses"});
  for (const Value status : init.items()) read_status(facts, status, false);
  for (const Value status : main.items()) read_status(facts, status, true);
  facts.several_containers =
      pod.get({"spec", "containers"}).size() > 1 ||
      std::ranges::any_of(pod.get({"spec", "initContainers"}).items(), [](Value container) {
        return container.get("name").as_string() != api::kBarrierContainer;
      });
  if (!facts.has_ended()) {
    facts.exit_code.reset();
    facts.finished.reset();
  }
  return facts;
}

std::string short_name(const PodFacts& pod, std::string_view job_set) {
  std::string_view name = pod.name;
  if (name.starts_with(job_set) && name.substr(job_set.size()).starts_with('-'))
    name.remove_prefix(job_set.size() + 1);
  const bool generated = !pod.job.empty();
  return plain_text(generated ? name.substr(0, name.rfind('-')) : name);
}

bool is_meant(const PodFacts& pod, std::string_view selection) {
  const std::size_t first = selection.find('/');
  if (selection.substr(0, first) != pod.stage) return false;
  if (first == selection.npos) return true;
  const std::string_view rest = selection.substr(first + 1);
  const std::size_t second = rest.find('/');
  const std::string_view job = rest.substr(0, second);
  if (job != pod.job_index && job != pod.job) return false;
  if (second == rest.npos) return true;
  const std::string_view wanted = rest.substr(second + 1);
  return wanted == pod.pod_index || wanted == pod.name;
}

bool failed_before(const PodFacts& a, const PodFacts& b) {
  if (!a.failure->at || !b.failure->at) return a.failure->at.has_value();
  if (*a.failure->at != *b.failure->at) return *a.failure->at < *b.failure->at;
  // Times have seconds only: what was told to stop did so because of another.
  return a.failure->code != kStopped && b.failure->code == kStopped;
}

const PodFacts* first_failure(const PodList& pods) {
  const PodFacts* first = nullptr;
  for (const PodFacts* const pod : pods) {
    if (pod->failure && (first == nullptr || failed_before(*pod, *first))) first = pod;
  }
  return first;
}

}  // namespace muster::story
