#include "api/openapi/manifests.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/testing.h"

namespace muster::api {
namespace manifests_test {

using json::Value;

// The texts are ours; upstream's were not recorded.
void erase_descriptions(Value value) {
  if (value.get("description").is_string()) value.erase("description");
  for (const json::Member& member : value.members()) erase_descriptions(member.value);
  for (const Value item : value.items()) erase_descriptions(item);
}

class Manifests : public testing::Test {
 protected:
  Value ours(std::string_view name) const {
    const auto found = std::ranges::find_if(definitions_, [&](Value each) {
      return each.get({"metadata", "name"}).as_string() == name;
    });
    MUSTER_ASSERT(found != definitions_.end(), "no such definition");
    return *found;
  }

  json::Arena arena_;
  std::vector<Value> definitions_ = custom_resource_definitions(arena_, Registry::builtin());
};

TEST_F(Manifests, ClusterQueuesAreUpstreams) {
  const json::Tree recorded(read_testdata("crd_clusterqueues.json"));
  recorded.root.get("metadata").erase("annotations");  // which tool made it
  const Value definition = ours("clusterqueues.kueue.x-k8s.io");
  erase_descriptions(definition);
  EXPECT_EQ(json::write(definition), json::write(recorded));
}

TEST_F(Manifests, JobSetsAreUpstreamsWithOurAdditions) {
  const json::Tree recorded(read_testdata("crd_jobsets.json"));
  recorded.root.get("metadata").erase("annotations");
  const Value definition = ours("jobsets.jobset.x-k8s.io");
  erase_descriptions(definition);

  const Value version = definition.get({"spec", "versions"}).item(0);
  const Value columns = version.get("additionalPrinterColumns");
  EXPECT_EQ(columns.item(columns.size() - 1).get("name").as_string(), "Waiting For");
  columns.erase_item(columns.size() - 1);
  const Value spec = version.get({"schema", "openAPIV3Schema", "properties", "spec", "properties"});
  EXPECT_TRUE(spec.erase("gangConfig"));
  EXPECT_TRUE(spec.erase("groupSchedulingConfig"));
  const Value job = spec.get({"replicatedJobs", "items", "properties"});
  EXPECT_TRUE(job.erase("gangConfig"));
  EXPECT_TRUE(job.get("replicas").erase("minimum"));
  const Value pod = job.get({"template", "properties", "spec", "properties", "template",
                             "properties", "spec", "properties"});
  EXPECT_TRUE(pod.erase("workloadRef"));

  // Granular is what a map is when nothing is said.
  const Value claim_status = recorded.root.get({"spec", "versions"})
                                 .item(0)
                                 .get({"schema", "openAPIV3Schema", "properties", "spec",
                                       "properties", "volumeClaimPolicies", "items", "properties",
                                       "templates", "items", "properties", "status", "properties"});
  EXPECT_TRUE(claim_status.get("allocatedResourceStatuses").erase("x-kubernetes-map-type"));
  EXPECT_EQ(json::write(definition), json::write(recorded));
}

TEST_F(Manifests, EveryCustomResourceHasOneDefinitionWithOneStoredVersion) {
  std::size_t versions = 0;
  for (const Value definition : definitions_) {
    int stored = 0;
    for (const Value version : definition.get({"spec", "versions"}).items()) {
      stored += version.get("storage").as_bool() ? 1 : 0;
      EXPECT_EQ(json::write(version.get({"schema", "openAPIV3Schema", "properties", "metadata"})),
                R"({"type":"object"})")
          << "an API server takes nothing else";
      ++versions;
    }
    EXPECT_EQ(stored, 1) << json::write(definition.get("metadata"));
  }
  const auto& resources = Registry::builtin().resources();
  EXPECT_EQ(versions,
            static_cast<std::size_t>(std::ranges::count_if(resources, &Resource::custom)));
}

}  // namespace manifests_test
}  // namespace muster::api
