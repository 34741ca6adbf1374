// The built-in kinds' rows; columns.cc finds the right one. Each fills in exactly the columns that
// data/table-columns.json lists, in that order (a test counts them).
#pragma once

#include "api/tables/table_row.h"

namespace muster::api {

// columns_core.cc
void component_status_row(Row& row);
void config_map_row(Row& row);
void endpoints_row(Row& row);
void endpoint_slice_row(Row& row);
void event_row(Row& row);
void namespace_row(Row& row);
void node_row(Row& row);
void secret_row(Row& row);
void service_row(Row& row);
void volume_claim_row(Row& row);
void volume_row(Row& row);

// columns_workloads.cc
void pod_row(Row& row);
void pod_template_row(Row& row);
void deployment_row(Row& row);
void cron_job_row(Row& row);
void job_row(Row& row);

// columns_policy.cc
void disruption_budget_row(Row& row);
void resource_quota_row(Row& row);
void role_binding_row(Row& row);
void webhooks_row(Row& row);
void priority_class_row(Row& row);
void pod_group_row(Row& row);
void lease_row(Row& row);

void name_and_age_row(Row& row);
void name_and_creation_row(Row& row);

}  // namespace muster::api
