// 1.3, as observed on kube-apiserver 1.36.3.
#include "fields/reset_fields.h"

#include <gmock/gmock.h>

#include "fields/testing.h"

namespace muster::fields {
namespace reset_fields_test {

struct Row {
  std::string_view api_version;
  std::string_view kind;
  std::string_view subresource;
  std::string_view fields;
};

TEST(ResetFields, PerEndpoint) {
  const std::vector<Row> table = {
      {"v1", "Pod", "", R"({"f:status":{}})"},
      {"v1", "Pod", "status",
       R"({"f:metadata":{"f:deletionTimestamp":{},"f:ownerReferences":{}},"f:spec":{}})"},
      {"v1", "Pod", "resize", "{}"},
      {"v1", "Pod", "ephemeralcontainers", "{}"},
      {"v1", "Node", "", R"({"f:status":{}})"},
      {"v1", "Node", "status", R"({"f:spec":{}})"},
      {"v1", "Namespace", "finalize", R"({"f:status":{}})"},
      {"v1", "ConfigMap", "", "{}"},
      {"v1", "Secret", "", "{}"},
      {"apps/v1", "Deployment", "", R"({"f:status":{}})"},
      {"apps/v1", "Deployment", "status", R"({"f:metadata":{"f:labels":{}},"f:spec":{}})"},
      {"v1", "Service", "status", R"({"f:spec":{}})"},
      {"batch/v1", "Job", "", R"({"f:status":{}})"},
      {"batch/v1", "Job", "status", R"({"f:spec":{}})"},
      {"scheduling.k8s.io/v1alpha2", "PodGroup", "", "{}"},
      {"scheduling.k8s.io/v1alpha2", "PodGroup", "status", R"({"f:metadata":{},"f:spec":{}})"},
      {"coordination.k8s.io/v1", "Lease", "", "{}"},
      {"jobset.x-k8s.io/v1alpha2", "JobSet", "", R"({"f:status":{}})"},
      {"jobset.x-k8s.io/v1alpha2", "JobSet", "status", R"({"f:metadata":{},"f:spec":{}})"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition", "status", R"({"f:spec":{}})"},
  };
  for (const Row& row : table) {
    EXPECT_EQ(to_json(reset_fields(resource(row.api_version, row.kind), row.subresource)),
              row.fields)
        << row.kind << "/" << row.subresource;
  }
}

}  // namespace reset_fields_test
}  // namespace muster::fields
