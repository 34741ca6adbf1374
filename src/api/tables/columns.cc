#include "api/tables/columns.h"

#include <algorithm>
#include <array>

#include "api/tables/columns_kinds.h"
#include "api/views/job_set_names.h"
#include "api/views/pod_phase.h"

namespace muster::api {
namespace {

using json::Value;

struct KindRow {
  std::string_view group;
  std::string_view kind;
  void (*row)(Row& row);
};

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr std::array<KindRow, 28> kRows{{
    {"", "ComponentStatus", component_status_row},
    {"", "ConfigMap", config_map_row},
    {"", "Endpoints", endpoints_row},
    {"", "Event", event_row},
    {"", "Namespace", namespace_row},
    {"", "Node", node_row},
    {"", "PersistentVolumeClaim", volume_claim_row},
    {"", "PersistentVolume", volume_row},
    {"", "Pod", pod_row},
    {"", "PodTemplate", pod_template_row},
    {"", "ResourceQuota", resource_quota_row},
    {"", "Secret", secret_row},
    {"", "ServiceAccount", name_and_age_row},
    {"", "Service", service_row},
    {"apps", "Deployment", deployment_row},
    {"events.k8s.io", "Event", event_row},
    {"batch", "CronJob", cron_job_row},
    {"batch", "Job", job_row},
    {"policy", "PodDisruptionBudget", disruption_budget_row},
    {kRbac, "ClusterRoleBinding", role_binding_row},
    {kRbac, "RoleBinding", role_binding_row},
    {kAdmission, "MutatingWebhookConfiguration", webhooks_row},
    {kAdmission, "ValidatingWebhookConfiguration", webhooks_row},
    {"scheduling.k8s.io", "PriorityClass", priority_class_row},
    {"scheduling.k8s.io", "PodGroup", pod_group_row},
    {"scheduling.k8s.io", "Workload", name_and_age_row},
    {"coordination.k8s.io", "Lease", lease_row},
    {"discovery.k8s.io", "EndpointSlice", endpoint_slice_row},
}};

struct Description {
  std::string_view column;
  std::string_view text;
};

constexpr std::array<Description, 12> kDescriptions{{
    {"Name", "Name of the object, unique among its kind in its namespace."},
    {"Age", "Time since the object was created."},
    {"Created At", "When the object was created."},
    {"Status", "What the object is doing, in one word."},
    {"Ready", "How many are ready."},
    {"Restarts", "How often containers have been restarted, and when last."},
    {"Containers", "Names of the containers in the template."},
    {"Images", "Images of the containers in the template."},
    {"Selector", "Which pods belong to the object."},
    {"Node", "The node on which the pod runs."},
    {"Completions", "Pods that have succeeded, of those that must."},
    {"Duration", "Time from start to completion, or until now."},
}};

std::string description_of(const Column& column) {
  if (!column.description.empty()) return column.description;
  const auto* known = std::ranges::find(kDescriptions, column.name, &Description::column);
  if (known != kDescriptions.end()) return std::string(known->text);
  if (column.json_path.empty()) return column.name + " of the object.";
  return "Value at " + column.json_path + ".";
}

std::vector<Column> waiting_for() {
  return {{.name = "Waiting For",
           .type = "string",
           .format = "",
           .description = "What must happen before the JobSet can go on.",
           .priority = 1,
           .json_path =
               fmt::format(R"(.status.conditions[?(@.type=="{}")].message)", kWaitingCondition)}};
}

Value definition(json::Arena& arena, const Column& column) {
  const Value value = Value::object(arena, 5);
  value.set("name", column.name);
  value.set("type", column.type);
  value.set("format", column.format);
  value.set("description", description_of(column));
  value.set("priority", Value::of(column.priority));
  return value;
}

std::string age_of(const Row& row, Value time) {
  return time_of(time) ? row.since(time) : "<invalid>";
}

}  // namespace

const std::vector<Column>& added_columns(const Resource& resource) {
  static const std::vector<Column> kJobSet = waiting_for();
  static const std::vector<Column> kNothing;
  return resource.gvk.group == "jobset.x-k8s.io" && resource.gvk.kind == "JobSet" ? kJobSet
                                                                                  : kNothing;
}

TableRenderer::TableRenderer(const Resource& resource) : resource_(resource) {
  if (!resource.custom) {
    const auto* known = std::ranges::find_if(kRows, [&](const KindRow& each) {
      return each.kind == resource.gvk.kind && each.group == resource.gvk.group;
    });
    row_ = known == kRows.end() ? name_and_creation_row : known->row;
    return;
  }
  for (const auto* columns : {&resource.columns, &added_columns(resource)}) {
    for (const Column& column : *columns) {
      auto path = json::JsonPath::parse(column.json_path);
      by_path_.push_back({column.type, path ? std::optional(std::move(*path)) : std::nullopt});
    }
  }
}

Value TableRenderer::definitions(json::Arena& arena) const {
  const Value definitions = Value::array(arena, resource_.columns.size() + 1);
  for (const auto* columns : {&resource_.columns, &added_columns(resource_)}) {
    for (const Column& column : *columns) definitions.push_back(definition(arena, column));
  }
  return definitions;
}

void TableRenderer::append_cells(Value object, Time now, Value cells) const {
  Row row(object, now, cells);
  if (row_ != nullptr) row_(row);
  for (const PathColumn& column : by_path_) append_by_path(column, row);
}

// A value of another type than the column's is an empty cell, but text takes everything.
void TableRenderer::append_by_path(const PathColumn& column, Row& row) const {
  const Value found = column.path ? column.path->first(row.object()) : Value();
  if (column.type == "string" && !found.is_null()) {
    row.text(scalar_text(found));
  } else if (column.type == "date" && found.is_string()) {
    row.text(age_of(row, found));
  } else if (column.type == "integer" && found.is_number()) {
    row.number(found.is_int() ? found.as_int() : static_cast<std::int64_t>(found.as_double()));
  } else if ((column.type == "number" && found.is_number()) ||
             (column.type == "boolean" && found.is_bool())) {
    row.value(found);
  } else {
    row.value(Value());
  }
}

Value TableRenderer::row_conditions(json::Arena& arena, Value object) const {
  if (row_ != pod_row) return {};
  const auto phase = object.get({"status", "phase"}).as_string();
  if (!is_end_phase(phase)) return {};
  const Value condition = Value::object(arena, 4);
  condition.set("type", "Completed");
  condition.set("status", "True");
  condition.set("reason", phase);
  condition.set("message",
                phase == "Failed" ? "The pod failed." : "The pod has completed successfully.");
  const Value conditions = Value::array(arena, 1);
  conditions.push_back(condition);
  return conditions;
}

}  // namespace muster::api
