// Rows of what runs: pods and the kinds that make them.
#include <fmt/format.h>

#include <array>

#include "api/tables/columns_kinds.h"
#include "api/views/conditions.h"
#include "api/views/pod_summary.h"

namespace muster::api {
namespace {

using json::Value;

std::string readiness_gates(Value pod) {
  const Value gates = pod.get({"spec", "readinessGates"});
  if (gates.empty()) return std::string(kNone);
  int open = 0;
  for (const Value gate : gates.items()) {
    if (has_condition(pod, gate.get("conditionType").as_string())) ++open;
  }
  return fmt::format("{}/{}", open, gates.size());
}

std::string_view job_status(const Row& row) {
  constexpr std::array<std::string_view, 2> kEnded{"Complete", "Failed"};
  constexpr std::array<std::string_view, 3> kNotEnded{"Suspended", "FailureTarget",
                                                      "SuccessCriteriaMet"};
  for (const auto type : kEnded) {
    if (has_condition(row.object(), type)) return type;
  }
  if (row.is_deleted()) return "Terminating";
  for (const auto type : kNotEnded) {
    if (has_condition(row.object(), type)) return type;
  }
  return "Running";
}

std::string job_completions(const Row& row) {
  const auto succeeded = row.get({"status", "succeeded"}).as_int();
  if (const Value wanted = row.get({"spec", "completions"}); !wanted.is_null()) {
    return fmt::format("{}/{}", succeeded, wanted.as_int());
  }
  const auto parallelism = row.get({"spec", "parallelism"}).as_int();
  if (parallelism > 1) return fmt::format("{}/1 of {}", succeeded, parallelism);
  return fmt::format("{}/1", succeeded);
}

std::string job_duration(const Row& row) {
  const auto start = time_of(row.get({"status", "startTime"}));
  if (!start) return "";
  return human_duration(time_of(row.get({"status", "completionTime"})).value_or(row.now()) -
                        *start);
}

}  // namespace

void pod_row(Row& row) {
  const Value pod = row.object();
  const PodSummary summary = summarize_pod(pod);
  std::string restarts = fmt::format("{}", summary.restarts);
  if (summary.restarts != 0 && summary.last_restart) {
    restarts += fmt::format(" ({} ago)", human_duration(row.now() - *summary.last_restart));
  }
  row.name();
  row.text(fmt::format("{}/{}", summary.ready, summary.total));
  row.text(summary.status);
  row.text(restarts);
  row.age();
  row.text(row.get({"status", "podIPs"}).item(0).get("ip").as_string(), kNone);
  row.text(row.text_of({"spec", "nodeName"}), kNone);
  row.text(row.text_of({"status", "nominatedNodeName"}), kNone);
  row.text(readiness_gates(pod));
}

void pod_template_row(Row& row) {
  row.name();
  row.containers(row.get({"template", "spec"}));
  row.text(labels_text(row.get({"template", "metadata", "labels"})));
}

void deployment_row(Row& row) {
  row.name();
  row.text(fmt::format("{}/{}", row.get({"status", "readyReplicas"}).as_int(),
                       row.get({"spec", "replicas"}).as_int()));
  row.number(row.get({"status", "updatedReplicas"}).as_int());
  row.number(row.get({"status", "availableReplicas"}).as_int());
  row.age();
  row.containers(row.get({"spec", "template", "spec"}));
  row.text(selector_text(row.get({"spec", "selector"})));
}

void cron_job_row(Row& row) {
  const Value suspend = row.get({"spec", "suspend"});
  const Value last = row.get({"status", "lastScheduleTime"});
  const Value job = row.get({"spec", "jobTemplate", "spec"});
  row.name();
  row.text(row.text_of({"spec", "schedule"}));
  row.text(row.text_of({"spec", "timeZone"}), kNone);
  row.text(suspend.is_null() ? kUnset : suspend.as_bool() ? "True" : "False");
  row.number(static_cast<std::int64_t>(row.get({"status", "active"}).size()));
  row.text(last.is_null() ? std::string(kNone) : row.since(last));
  row.age();
  row.containers(job.get({"template", "spec"}));
  row.text(selector_text(job.get("selector")));
}

void job_row(Row& row) {
  row.name();
  row.text(job_status(row));
  row.text(job_completions(row));
  row.text(job_duration(row));
  row.age();
  row.containers(row.get({"spec", "template", "spec"}));
  row.text(selector_text(row.get({"spec", "selector"})));
}

}  // namespace muster::api
