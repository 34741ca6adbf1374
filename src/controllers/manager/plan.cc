#include "controllers/manager/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::controllers::manager {
namespace {

using client::PatchType;
using client::Verb;

constexpr std::string_view kSpec =
    R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{0}","labels":{{)"
    R"("app.kubernetes.io/name":"jobset","app.kubernetes.io/component":"controller-manager"}},)"
    R"("annotations":{{"muster.dev/stands-for":"the JobSet controller of this server"}}}},)"
    R"("spec":{{"replicas":1,"selector":{{"matchLabels":{{"control-plane":"{0}"}}}},"template":{{)"
    R"("metadata":{{"labels":{{"control-plane":"{0}"}}}},)"
    R"("spec":{{"containers":[{{"name":"manager","image":"muster"}}]}}}}}}}})";

constexpr std::string_view kStatus =
    R"({{"status":{{"observedGeneration":{0},"replicas":1,"updatedReplicas":1,"readyReplicas":1,)"
    R"("availableReplicas":1,"conditions":[{{"type":"Available","status":"True",)"
    R"("reason":"MinimumReplicasAvailable","message":"Deployment has minimum availability.",)"
    R"("lastUpdateTime":"{1}","lastTransitionTime":"{1}"}}]}}}})";

bool is_available(json::Value deployment) {
  return std::ranges::any_of(deployment.get({"status", "conditions"}).items(),
                             [](json::Value condition) {
                               return condition.get("type").as_string() == "Available" &&
                                      condition.get("status").as_string() == "True";
                             });
}

}  // namespace

Plan plan(const Kinds& kinds, json::Value deployment, Time now) {
  Plan plan;
  if (deployment.is_null()) {
    plan.reason = "nothing shows that JobSets are looked after";
    plan.then(
        {.operation = {.verb = Verb::kCreate,
                       .resource = &kinds.namespaces,
                       .name = std::string(kNamespace),
                       .body = fmt::format(
                           R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})",
                           kNamespace)},
         .may_exist = true});
    plan.then({.operation = {.verb = Verb::kCreate,
                             .resource = &kinds.deployments,
                             .ns = std::string(kNamespace),
                             .name = std::string(kDeployment),
                             .body = fmt::format(kSpec, kDeployment)},
               .may_exist = true});
  } else if (!is_available(deployment)) {
    plan.reason = "admission answers";
    plan.then({.operation = {
                   .verb = Verb::kPatch,
                   .resource = &kinds.deployments,
                   .ns = std::string(kNamespace),
                   .name = std::string(kDeployment),
                   .subresource = "status",
                   .body = fmt::format(kStatus, deployment.get({"metadata", "generation"}).as_int(),
                                       format_time(now)),
                   .patch_type = PatchType::kMerge}});
  }
  return plan;
}

}  // namespace muster::controllers::manager
