#include "api/schema/registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "api/testing.h"

namespace muster::api {
namespace registry_test {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

const Registry& registry() { return Registry::builtin(); }

TEST(Registry, FindsAResourceByPathByKindAndByStorage) {
  const Resource* const jobs = registry().find("batch", "v1", "jobs");
  ASSERT_NE(jobs, nullptr);
  EXPECT_EQ(registry().find_kind("batch/v1", "Job"), jobs);
  EXPECT_EQ(registry().find_storage("batch", "jobs"), jobs);
  EXPECT_EQ(jobs->list_kind, "JobList");
  EXPECT_EQ(jobs->qualified(), "jobs.batch");
  EXPECT_EQ(jobs->qualified_kind(), "Job.batch");
  EXPECT_EQ(registry().find("batch", "v2", "jobs"), nullptr);
  EXPECT_EQ(registry().find_kind("v1", "Job"), nullptr);
}

TEST(Registry, ServesTheKindsThatTheSystemStandsOn) {
  const std::pair<std::string_view, std::string_view> kinds[] = {
      {"v1", "Namespace"},
      {"v1", "Pod"},
      {"v1", "Node"},
      {"v1", "Service"},
      {"v1", "ConfigMap"},
      {"v1", "Secret"},
      {"v1", "Event"},
      {"v1", "ServiceAccount"},
      {"v1", "PersistentVolumeClaim"},
      {"v1", "ResourceQuota"},
      {"v1", "LimitRange"},
      {"events.k8s.io/v1", "Event"},
      {"batch/v1", "Job"},
      {"batch/v1", "CronJob"},
      {"apps/v1", "Deployment"},
      {"coordination.k8s.io/v1", "Lease"},
      {"discovery.k8s.io/v1", "EndpointSlice"},
      {"policy/v1", "PodDisruptionBudget"},
      {"scheduling.k8s.io/v1", "PriorityClass"},
      {"scheduling.k8s.io/v1alpha1", "Workload"},
      {"scheduling.k8s.io/v1alpha2", "Workload"},
      {"scheduling.k8s.io/v1alpha2", "PodGroup"},
      {"scheduling.k8s.io/v1beta1", "Workload"},
      {"scheduling.k8s.io/v1beta1", "PodGroup"},
      {"rbac.authorization.k8s.io/v1", "Role"},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
      {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"},
      {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
      {"authentication.k8s.io/v1", "SelfSubjectReview"},
      {"jobset.x-k8s.io/v1alpha2", "JobSet"},
      {"kueue.x-k8s.io/v1beta2", "ClusterQueue"},
      {"kueue.x-k8s.io/v1beta2", "LocalQueue"},
      {"kueue.x-k8s.io/v1beta2", "Workload"},
      {"kueue.x-k8s.io/v1beta1", "ResourceFlavor"},
  };
  for (const auto& [api_version, kind] : kinds) {
    const Resource* const found = registry().find_kind(api_version, kind);
    ASSERT_NE(found, nullptr) << api_version << " " << kind;
    EXPECT_FALSE(found->verbs.empty());
    EXPECT_EQ(found->schema->shape, Shape::kStruct);
  }
}

TEST(Registry, StorageIdsAreDenseAndSharedByVersionsOfOneKind) {
  std::set<int> ids;
  for (const Resource* const each : registry().resources()) {
    EXPECT_EQ(each->storage->storage, each->storage);
    EXPECT_EQ(each->storage->id, each->id);
    ids.insert(each->id);
  }
  EXPECT_EQ(static_cast<int>(ids.size()), registry().storage_count());
  EXPECT_EQ(*ids.begin(), 0);
  EXPECT_EQ(*ids.rbegin(), registry().storage_count() - 1);

  const Resource& old_queue = resource("kueue.x-k8s.io/v1beta1", "LocalQueue");
  const Resource& new_queue = resource("kueue.x-k8s.io/v1beta2", "LocalQueue");
  EXPECT_EQ(old_queue.storage, &new_queue);
  EXPECT_EQ(resource("events.k8s.io/v1", "Event").storage, &resource("v1", "Event"));
  const Resource& gangs = resource("scheduling.k8s.io/v1beta1", "Workload");
  for (const std::string_view version : {"v1alpha1", "v1alpha2", "v1beta1"})
    EXPECT_EQ(resource(fmt::format("scheduling.k8s.io/{}", version), "Workload").storage, &gangs);
  EXPECT_NE(resource("kueue.x-k8s.io/v1beta2", "Workload").id,
            resource("scheduling.k8s.io/v1alpha2", "Workload").id);
}

TEST(Registry, GroupsNameThePreferredVersionFirstAndServeSomething) {
  std::vector<std::string> names;
  for (const GroupVersions& group : registry().groups()) {
    names.push_back(group.group);
    for (const std::string& version : group.versions) {
      EXPECT_TRUE(std::ranges::any_of(registry().resources(),
                                      [&](const Resource* each) {
                                        return each->gvk.group == group.group &&
                                               each->gvk.version == version;
                                      }))
          << group.group << " " << version;
    }
  }
  const auto versions = [](std::string_view name) {
    return std::ranges::find(registry().groups(), name, &GroupVersions::group)->versions;
  };
  EXPECT_THAT(versions("kueue.x-k8s.io"), ElementsAre("v1beta2", "v1beta1"));
  EXPECT_THAT(versions("scheduling.k8s.io"), ElementsAre("v1", "v1beta1", "v1alpha2", "v1alpha1"));
  EXPECT_EQ(names.front(), "");
  EXPECT_THAT(names, Not(Contains("autoscaling")));  // only Scale, which is no resource of its own
}

TEST(Registry, SubresourcesKnowTheKindAndTheTypeOfTheirBody) {
  const Resource& pods = resource("v1", "Pod");
  ASSERT_NE(pods.subresource("eviction"), nullptr);
  EXPECT_EQ(pods.subresource("eviction")->response_kind.api_version(), "policy/v1");
  EXPECT_EQ(pods.subresource("eviction")->schema, registry().type("io.k8s.api.policy.v1.Eviction"));
  EXPECT_EQ(pods.subresource("binding")->schema, registry().type("io.k8s.api.core.v1.Binding"));
  EXPECT_EQ(pods.subresource("status")->schema, nullptr);
  EXPECT_TRUE(pods.has_status());
  EXPECT_FALSE(resource("v1", "ConfigMap").has_status());
  EXPECT_EQ(resource("apps/v1", "Deployment").subresource("scale")->schema,
            registry().type_of_kind("autoscaling/v1", "Scale"));
}

struct SwitchRow {
  std::string_view api_version;
  std::string_view kind;
  Generation generation;
  bool unconditional_update;
  bool create_on_update;
  bool returns_object_on_delete;
  bool orphans_by_default;
};

TEST(Registry, KindsDifferByUpstreamsSwitches) {
  const SwitchRow rows[] = {
      {"v1", "ConfigMap", Generation::kNever, true, false, false, false},
      {"v1", "Pod", Generation::kSpec, true, false, true, false},
      {"v1", "Service", Generation::kNever, true, true, true, false},
      {"v1", "Node", Generation::kNever, true, false, false, false},
      {"v1", "Namespace", Generation::kNever, true, false, true, false},
      {"v1", "Event", Generation::kNever, true, true, false, false},
      {"batch/v1", "Job", Generation::kSpec, true, false, false, true},
      {"batch/v1", "CronJob", Generation::kSpec, true, false, false, false},
      {"coordination.k8s.io/v1", "Lease", Generation::kNever, false, true, false, false},
      {"policy/v1", "PodDisruptionBudget", Generation::kSpec, false, false, false, false},
      {"rbac.authorization.k8s.io/v1", "Role", Generation::kNever, true, true, false, false},
      {"scheduling.k8s.io/v1alpha2", "PodGroup", Generation::kNever, true, false, false, false},
      {"scheduling.k8s.io/v1beta1", "PodGroup", Generation::kNever, false, false, false, false},
      {"scheduling.k8s.io/v1alpha1", "Workload", Generation::kNever, true, false, false, false},
      {"jobset.x-k8s.io/v1alpha2", "JobSet", Generation::kContent, false, false, false, false},
  };
  for (const SwitchRow& row : rows) {
    const Resource& found = resource(row.api_version, row.kind);
    EXPECT_EQ(found.generation, row.generation) << row.kind;
    EXPECT_EQ(found.unconditional_update, row.unconditional_update) << row.kind;
    EXPECT_EQ(found.create_on_update, row.create_on_update) << row.kind;
    EXPECT_EQ(found.returns_object_on_delete, row.returns_object_on_delete) << row.kind;
    EXPECT_EQ(found.orphans_by_default, row.orphans_by_default) << row.kind;
  }
}

TEST(Registry, SelectableFieldsAreThoseOfUpstream) {
  EXPECT_THAT(resource("v1", "Pod").selectable_fields, Contains("spec.nodeName"));
  EXPECT_THAT(resource("batch/v1", "Job").selectable_fields, ElementsAre("status.successful"));
  EXPECT_THAT(resource("v1", "ConfigMap").selectable_fields, IsEmpty());
  EXPECT_THAT(resource("kueue.x-k8s.io/v1beta2", "Workload").selectable_fields,
              ElementsAre("status.admission.clusterQueue"));
}

TEST(Registry, ColumnsOfCustomResourcesComeWithPaths) {
  const Resource& jobsets = resource("jobset.x-k8s.io/v1alpha2", "JobSet");
  std::vector<std::string> names;
  for (const Column& column : jobsets.columns) names.push_back(column.name);
  EXPECT_THAT(names,
              ElementsAre("Name", "TerminalState", "Restarts", "Completed", "Suspended", "Age"));
  EXPECT_EQ(jobsets.columns[1].json_path, ".status.terminalState");
  const Resource& pods = resource("v1", "Pod");
  EXPECT_THAT(pods.columns, Contains(Field(&Column::name, "Nominated Node")));
  const Resource& flavors = resource("kueue.x-k8s.io/v1beta2", "ResourceFlavor");
  EXPECT_EQ(flavors.columns.back().type, "date");
}

TEST(Registry, AnOldVersionWarns) {
  EXPECT_EQ(resource("v1", "ComponentStatus").deprecation_warning,
            "v1 ComponentStatus is deprecated in v1.19+");
  EXPECT_EQ(resource("v1", "Pod").deprecation_warning, "");
  EXPECT_EQ(resource("kueue.x-k8s.io/v1beta1", "LocalQueue").deprecation_warning,
            "This version is deprecated. Use v1beta2 instead.");
  EXPECT_EQ(resource("kueue.x-k8s.io/v1beta2", "LocalQueue").deprecation_warning, "");
}

TEST(Schema, FindsEachFieldByItsNameAndNoOther) {
  for (const std::string_view type :
       {"io.k8s.api.core.v1.PodSpec", "io.k8s.api.core.v1.Container",
        "io.k8s.api.core.v1.ServiceSpec", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}) {
    const Schema* const schema = registry().type(type);
    ASSERT_NE(schema, nullptr) << type;
    ASSERT_GT(schema->fields.size(), 10u) << type;
    for (std::size_t i = 0; i < schema->fields.size(); ++i) {
      const std::string& name = schema->fields[i].name;
      EXPECT_EQ(schema->field_position(name), static_cast<int>(i)) << name;
      EXPECT_EQ(schema->field_position(name + "_"), -1) << name;
      EXPECT_EQ(schema->field_position("_" + name), -1) << name;
    }
    EXPECT_EQ(schema->field_position(""), -1);
  }
}

TEST(Schema, KnowsListsMapsAndMergeKeys) {
  const Schema* const spec = registry().type("io.k8s.api.core.v1.PodSpec");
  ASSERT_NE(spec, nullptr);
  const Schema& containers = *spec->field("containers")->schema;
  EXPECT_EQ(containers.shape, Shape::kList);
  EXPECT_EQ(containers.list_type, ListType::kMap);
  EXPECT_THAT(containers.list_keys, ElementsAre("name"));
  EXPECT_TRUE(containers.merges());
  EXPECT_EQ(containers.merge_key(), "name");
  EXPECT_TRUE(spec->field("nodeSelector")->schema->atomic_map);
  EXPECT_EQ(spec->field("volumes")->schema->patch_strategy, "merge,retainKeys");
  EXPECT_EQ(spec->member("containers")->element(), registry().type("io.k8s.api.core.v1.Container"));
  EXPECT_EQ(spec->field("nosuch"), nullptr);
}

TEST(Schema, APlaceMayDifferFromItsType) {
  const Schema* const deployment = registry().type("io.k8s.api.apps.v1.DeploymentSpec");
  const Schema* const strategy = registry().type("io.k8s.api.apps.v1.DeploymentStrategy");
  const Schema& place = *deployment->field("strategy")->schema;
  EXPECT_TRUE(place.retain_keys());
  EXPECT_FALSE(strategy->retain_keys());
  EXPECT_NE(place.field("rollingUpdate"), nullptr);
  // An object reference is atomic, but not as the claim of a volume.
  const Schema* const volume = registry().type("io.k8s.api.core.v1.PersistentVolumeSpec");
  EXPECT_FALSE(volume->field("claimRef")->schema->atomic_map);
  EXPECT_TRUE(registry().type("io.k8s.api.core.v1.ObjectReference")->atomic_map);
}

TEST(Schema, TheJobSetHasTheFieldsOfTheTwoProposals) {
  const Schema* const spec = registry().type("v1alpha2.JobSet.spec");
  const Schema& group = *spec->field("groupSchedulingConfig")->schema;
  EXPECT_EQ(group.field("timeoutAfterSeconds")->schema->limits.minimum, 1);
  EXPECT_EQ(group.field("targetReplicatedJobs")->schema->list_type, ListType::kAtomic);
  EXPECT_THAT(spec->field("gangConfig")->schema->field("gangMode")->schema->enum_values,
              ElementsAre("Off", "Gang"));
  const Schema& job = *spec->field("replicatedJobs")->schema->elem;
  EXPECT_THAT(job.field("gangConfig")->schema->field("gangMode")->schema->enum_values,
              ElementsAre("Off", "Gang", "ReplicatedGang"));
  EXPECT_EQ(job.field("replicas")->default_value->as_int(), 1);
}

TEST(Schema, EveryFieldOfAJobSetThatIsActedOnIsExplained) {
  for (const std::string_view name :
       {"", ".spec", ".status", ".spec.replicatedJobs[]", ".spec.replicatedJobs[].dependsOn[]",
        ".spec.replicatedJobs[].gangConfig", ".spec.gangConfig", ".spec.groupSchedulingConfig",
        ".spec.network", ".spec.successPolicy", ".spec.failurePolicy",
        ".spec.failurePolicy.rules[]", ".spec.startupPolicy", ".spec.coordinator",
        ".status.conditions[]", ".status.replicatedJobsStatus[]",
        ".spec.replicatedJobs[].template.spec"}) {
    const Schema* const type = registry().type("v1alpha2.JobSet" + std::string(name));
    ASSERT_NE(type, nullptr) << name;
    for (const api::Field& field : type->fields) {
      if (field.name == "apiVersion" || field.name == "kind" || field.name == "metadata") continue;
      EXPECT_NE(field.description, "") << name << " " << field.name;
    }
  }
}

TEST(Schema, ATypeLikeAnotherIsExplainedLikeIt) {
  const Schema* const pod = registry().type("io.k8s.api.core.v1.PodSpec");
  const Schema* const in_jobset =
      registry().type("v1alpha2.JobSet.spec.replicatedJobs[].template.spec.template.spec");
  EXPECT_NE(pod->field("nodeName")->description, "");
  EXPECT_EQ(in_jobset->field("nodeName")->description, pod->field("nodeName")->description);
  EXPECT_EQ(in_jobset->description, pod->description);
}

TEST(Schema, MetadataOfACustomResourceIsThatOfAllKinds) {
  EXPECT_EQ(resource("jobset.x-k8s.io/v1alpha2", "JobSet").schema->field("metadata")->schema,
            registry().type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
}

}  // namespace registry_test
}  // namespace muster::api
