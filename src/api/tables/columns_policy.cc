// Rows of the kinds that say who may do what, how much, and in which order.
#include <fmt/format.h>

#include <algorithm>

#include "api/tables/columns_kinds.h"
#include "api/views/conditions.h"

namespace muster::api {
namespace {

using json::Value;

std::string text_or(Value value, std::string_view if_null) {
  return value.is_null() ? std::string(if_null) : scalar_text(value);
}

// `name: used/hard` of the resources whose name does or does not start with "limits.".
std::string quota_column(Value status, bool limits) {
  std::vector<std::string> entries;
  for (const json::Member& hard : status.get("hard").members()) {
    if (hard.key.starts_with("limits.") != limits) continue;
    entries.push_back(fmt::format("{}: {}/{}", hard.key,
                                  text_or(status.get("used").get(hard.key), "0"),
                                  scalar_text(hard.value)));
  }
  std::ranges::sort(entries, {},
                    [](const std::string& entry) { return entry.substr(0, entry.find(':')); });
  return fmt::format("{}", fmt::join(entries, ", "));
}

std::string subjects_of(Value subjects, std::string_view kind) {
  std::vector<std::string> names;
  for (const Value subject : subjects.items()) {
    if (subject.get("kind").as_string() != kind) continue;
    const auto name = subject.get("name").as_string();
    names.push_back(kind == "ServiceAccount"
                        ? fmt::format("{}/{}", subject.get("namespace").as_string(), name)
                        : std::string(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string pod_group_status(Value group) {
  if (const Value disrupted = find_condition(group, "DisruptionTarget"); !disrupted.is_null()) {
    return std::string(disrupted.get("reason").as_string());
  }
  Value scheduled = find_condition(group, "PodGroupScheduled");
  if (scheduled.is_null()) scheduled = find_condition(group, "PodGroupInitiallyScheduled");
  if (scheduled.is_null()) return "Pending";
  return scheduled.get("status").as_string() == "True" ? "Scheduled" : "Unschedulable";
}

}  // namespace

void disruption_budget_row(Row& row) {
  row.name();
  row.text(text_or(row.get({"spec", "minAvailable"}), "N/A"));
  row.text(text_or(row.get({"spec", "maxUnavailable"}), "N/A"));
  row.number(row.get({"status", "disruptionsAllowed"}).as_int());
  row.age();
}

void resource_quota_row(Row& row) {
  row.name();
  row.text(quota_column(row.get({"status"}), false));
  row.text(quota_column(row.get({"status"}), true));
  row.age();
}

void role_binding_row(Row& row) {
  const Value subjects = row.get({"subjects"});
  row.name();
  row.text(
      fmt::format("{}/{}", row.text_of({"roleRef", "kind"}), row.text_of({"roleRef", "name"})));
  row.age();
  row.text(subjects_of(subjects, "User"));
  row.text(subjects_of(subjects, "Group"));
  row.text(subjects_of(subjects, "ServiceAccount"));
}

void webhooks_row(Row& row) {
  row.name();
  row.number(static_cast<std::int64_t>(row.get({"webhooks"}).size()));
  row.age();
}

void priority_class_row(Row& row) {
  row.name();
  row.number(row.get({"value"}).as_int());
  row.flag(row.get({"globalDefault"}).as_bool());
  row.age();
  row.text(row.text_of({"preemptionPolicy"}));
}

void pod_group_row(Row& row) {
  row.name();
  row.text(row.get({"spec", "schedulingPolicy", "gang"}).is_null() ? "Basic" : "Gang");
  const std::string_view workload = row.text_of({"spec", "workloadRef", "workloadName"});
  row.text(workload.empty()
               ? row.text_of({"spec", "podGroupTemplateRef", "workload", "workloadName"})
               : workload,
           kNone);
  row.text(pod_group_status(row.object()));
  row.age();
}

void lease_row(Row& row) {
  row.name();
  row.text(row.text_of({"spec", "holderIdentity"}));
  row.age();
}

}  // namespace muster::api
