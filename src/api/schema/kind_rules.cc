#include "api/schema/kind_rules.h"

#include <algorithm>
#include <array>
#include <span>

namespace muster::api {
namespace {

struct Switches {
  Generation generation = Generation::kNever;
  bool unconditional_update = true;
  bool create_on_update = false;
  bool returns_object_on_delete = false;
  bool orphans_by_default = false;
  std::string_view deprecation_warning = {};
};

struct KindRow {
  std::string_view resource;  // plural[.group]
  Switches switches;
  std::string_view version = {};  // all if empty
};

constexpr Switches kCountsSpec{.generation = Generation::kSpec};
constexpr Switches kCreatesOnUpdate{.create_on_update = true};
constexpr Switches kReturnsObject{.returns_object_on_delete = true};
constexpr Switches kWebhookConfiguration{.generation = Generation::kContent,
                                         .unconditional_update = false};

constexpr auto kKinds = std::to_array<KindRow>({
    {"clusterrolebindings.rbac.authorization.k8s.io", kCreatesOnUpdate},
    {"clusterroles.rbac.authorization.k8s.io", kCreatesOnUpdate},
    {"componentstatuses", {.deprecation_warning = "v1 ComponentStatus is deprecated in v1.19+"}},
    {"cronjobs.batch", kCountsSpec},
    {"customresourcedefinitions.apiextensions.k8s.io",
     {.generation = Generation::kSpec, .unconditional_update = false}},
    {"deployments.apps", kCountsSpec},
    {"endpoints",
     {.create_on_update = true,
      .deprecation_warning =
          "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}},
    {"endpointslices.discovery.k8s.io", {.generation = Generation::kContent}},
    {"events", kCreatesOnUpdate},
    {"events.events.k8s.io", kCreatesOnUpdate},
    {"jobs.batch", {.generation = Generation::kSpec, .orphans_by_default = true}},
    {"leases.coordination.k8s.io", {.unconditional_update = false, .create_on_update = true}},
    {"limitranges", kCreatesOnUpdate},
    {"mutatingwebhookconfigurations.admissionregistration.k8s.io", kWebhookConfiguration},
    {"namespaces", kReturnsObject},
    {"persistentvolumeclaims", kReturnsObject},
    {"persistentvolumes", kReturnsObject},
    {"poddisruptionbudgets.policy",
     {.generation = Generation::kSpec, .unconditional_update = false}},
    {"podgroups.scheduling.k8s.io", {.unconditional_update = false}, "v1beta1"},
    {"pods", {.generation = Generation::kSpec, .returns_object_on_delete = true}},
    {"podtemplates", {.generation = Generation::kContent, .returns_object_on_delete = true}},
    {"priorityclasses.scheduling.k8s.io", kCountsSpec},
    {"resourcequotas", kReturnsObject},
    {"rolebindings.rbac.authorization.k8s.io", kCreatesOnUpdate},
    {"roles.rbac.authorization.k8s.io", kCreatesOnUpdate},
    {"serviceaccounts", kReturnsObject},
    {"services", {.create_on_update = true, .returns_object_on_delete = true}},
    {"validatingwebhookconfigurations.admissionregistration.k8s.io", kWebhookConfiguration},
    {"workloads.scheduling.k8s.io", {.unconditional_update = false}, "v1beta1"},
});

struct SelectableRow {
  std::string_view resource;
  std::string_view field;
};

constexpr auto kSelectable = std::to_array<SelectableRow>({
    {"events", "involvedObject.kind"},
    {"events", "involvedObject.namespace"},
    {"events", "involvedObject.name"},
    {"events", "involvedObject.uid"},
    {"events", "involvedObject.apiVersion"},
    {"events", "involvedObject.resourceVersion"},
    {"events", "involvedObject.fieldPath"},
    {"events", "reason"},
    {"events", "reportingComponent"},
    {"events", "source"},
    {"events", "type"},
    {"events.events.k8s.io", "reason"},
    {"events.events.k8s.io", "regarding.kind"},
    {"events.events.k8s.io", "regarding.namespace"},
    {"events.events.k8s.io", "regarding.name"},
    {"events.events.k8s.io", "regarding.uid"},
    {"events.events.k8s.io", "regarding.apiVersion"},
    {"events.events.k8s.io", "regarding.resourceVersion"},
    {"events.events.k8s.io", "regarding.fieldPath"},
    {"events.events.k8s.io", "reportingController"},
    {"events.events.k8s.io", "type"},
    {"jobs.batch", "status.successful"},
    {"namespaces", "status.phase"},
    {"nodes", "spec.unschedulable"},
    {"pods", "spec.host"},
    {"pods", "spec.hostNetwork"},
    {"pods", "spec.nodeName"},
    {"pods", "spec.restartPolicy"},
    {"pods", "spec.schedulerName"},
    {"pods", "spec.serviceAccountName"},
    {"pods", "status.nominatedNodeName"},
    {"pods", "status.phase"},
    {"pods", "status.podIP"},
    {"pods", "status.podIPs"},
    {"secrets", "type"},
    {"services", "spec.clusterIP"},
    {"services", "spec.type"},
});

}  // namespace

void set_kind_rules(Resource& resource) {
  Switches switches;
  if (resource.custom) {
    switches = {.generation = Generation::kContent, .unconditional_update = false};
  } else {
    const std::string name = resource.qualified();
    const auto row = std::ranges::find_if(kKinds, [&](const KindRow& each) {
      return each.resource == name &&
             (each.version.empty() || each.version == resource.gvk.version);
    });
    if (row != kKinds.end()) switches = row->switches;
    resource.deprecation_warning = switches.deprecation_warning;
    for (const SelectableRow& selectable : kSelectable) {
      if (selectable.resource == name) resource.selectable_fields.emplace_back(selectable.field);
    }
  }
  resource.generation = switches.generation;
  resource.unconditional_update = switches.unconditional_update;
  resource.create_on_update = switches.create_on_update;
  resource.returns_object_on_delete = switches.returns_object_on_delete;
  resource.orphans_by_default = switches.orphans_by_default;
}

std::string storage_name(const Resource& resource) {
  // Events are served in two groups, in two shapes, and are the same objects.
  if (resource.gvk.group == "events.k8s.io") return "/events";
  return resource.gvk.group + "/" + resource.plural;
}

}  // namespace muster::api
