#include "story/describe_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/views/pod_summary.h"
#include "api/views/views.h"
#include "base/terminal_text.h"
#include "json/write.h"
#include "json/yaml.h"
#include "story/pod_facts.h"
#include "story/stages.h"
#include "story/text_table.h"

namespace muster::story {
namespace {

using json::Value;

constexpr std::size_t kKeyWidth = 14;

std::string row(std::string_view key, std::string_view value) {
  return fmt::format("{:<{}}{}\n", fmt::format("{}:", key), kKeyWidth,
                     value.empty() ? "<none>" : plain_text(value));
}

std::string map_rows(std::string_view key, Value map) {
  if (map.empty()) return row(key, "");
  std::string out;
  for (const auto& member : map.members()) {
    const std::string value = member.value.is_string() ? std::string(member.value.as_string())
                                                       : json::write(member.value);
    out += fmt::format("{:<{}}{}={}\n", out.empty() ? fmt::format("{}:", key) : "", kKeyWidth,
                       plain_text(member.key), plain_text(value));
  }
  return out;
}

std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += fmt::format("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string section(std::string_view title, TextTable table) {
  if (table.empty()) return fmt::format("{}: <none>\n", title);
  return fmt::format("{}:\n{}", title, indented(table.take()));
}

std::string age(const std::optional<Time>& since, Time now) {
  return since ? human_duration(std::max(Duration{}, now - *since)) : "<unknown>";
}

TextTable stages_table(const Standing& standing, Time now) {
  TextTable table({"NAME", "STATE", "JOBS", "PODS", "TIME", "WAITS FOR"});
  for (const Stage& stage : standing.stages) {
    const bool waits = stage.state == StageState::kWaiting;
    table.add({stage.name, std::string(word_for(stage.state)),
               fmt::format("{}/{}", stage.jobs_ready, stage.jobs),
               fmt::format("{}/{}", stage.pods_there(), stage.pods),
               stage.started ? human_duration(std::max(
                                   Duration{}, stage.finished.value_or(now) - *stage.started))
                             : "-",
               waits && !stage.waits_for.empty() ? stage.waits_for : "-"});
  }
  return table;
}

TextTable pods_table(const std::vector<Value>& pods, Time now) {
  TextTable table({"NAME", "READY", "STATUS", "RESTARTS", "NODE", "AGE", "NOTE"});
  for (const Value pod : pods) {
    const PodFacts facts = pod_facts(pod);
    const api::PodSummary summary = api::summarize_pod(pod);
    std::string note = facts.failure ? facts.failure->text() : facts.trouble;
    if (note.empty() && !facts.unschedulable.empty()) note = facts.unschedulable;
    if (note.empty() && facts.at_barrier) note = "at the barrier";
    table.add({facts.name, fmt::format("{}/{}", summary.ready, summary.total), facts.status,
               std::to_string(summary.restarts), facts.node.empty() ? "<none>" : facts.node,
               age(facts.created, now), note});
  }
  return table;
}

TextTable conditions_table(Value object, Time now) {
  TextTable table({"TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"});
  for (const api::Condition& condition :
       api::read_conditions(object.get({"status", "conditions"}))) {
    table.add({condition.type, condition.status, condition.reason,
               age(condition.last_transition_time, now), condition.message});
  }
  return table;
}

std::string heading(Value object) {
  const Value metadata = object.get("metadata");
  std::string out = row("Name", metadata.get("name").as_string());
  if (metadata.has("namespace")) out += row("Namespace", metadata.get("namespace").as_string());
  out += map_rows("Labels", metadata.get("labels"));
  out += map_rows("Annotations", metadata.get("annotations"));
  return out;
}

}  // namespace

std::string describe_job_set(Value job_set, const std::vector<Value>& pods,
                             const std::vector<EventRow>& events, Time now) {
  std::vector<PodFacts> facts;
  for (const Value pod : pods) facts.push_back(pod_facts(pod));
  const api::JobSet set = api::read_job_set(job_set);
  const Standing standing = standing_of(set, facts);
  std::string out = heading(job_set);
  out += row("Age", age(standing.created, now));
  out += row("State", standing.state);
  if (standing.outcome) out += row("Outcome", standing.outcome->message);
  if (!standing.waiting.empty()) out += row("Waiting for", standing.waiting);
  out += row("Restarts", standing.max_restarts ? fmt::format("{} of at most {}", standing.restarts,
                                                             *standing.max_restarts)
                                               : std::to_string(standing.restarts));
  if (set.in_order) out += row("Startup", "in order");
  out += section("Stages", stages_table(standing, now));
  out += section("Pods", pods_table(pods, now));
  out += section("Conditions", conditions_table(job_set, now));
  return out + section("Events", events_table(events, now, EventsOf::kObject));
}

std::string describe_object(Value object, const std::vector<EventRow>& events, Time now) {
  std::string out = heading(object);
  out += row("Kind", fmt::format("{} ({})", object.get("kind").as_string(),
                                 object.get("apiVersion").as_string()));
  out += row("Created", object.get({"metadata", "creationTimestamp"}).as_string());
  const Value rest = Value::object(object.arena());
  for (const auto& member : object.members()) {
    if (member.key == "metadata" || member.key == "kind" || member.key == "apiVersion") continue;
    const bool is_secret = object.get("kind").as_string() == "Secret" && member.key == "data";
    if (!is_secret) rest.set(member.key, member.value);
  }
  if (object.get("kind").as_string() == "Secret") {
    const Value sizes = rest.object_at("data");
    for (const auto& member : object.get("data").members())
      sizes.set(member.key, fmt::format("{} bytes in base64", member.value.as_string().size()));
  }
  if (!rest.empty()) out += json::write_yaml(rest);
  return out + section("Events", events_table(events, now, EventsOf::kObject));
}

}  // namespace muster::story
