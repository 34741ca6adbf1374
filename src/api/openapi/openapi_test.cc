#include "api/openapi/openapi.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "api/openapi/openapi_paths.h"
#include "api/testing.h"

namespace muster::api {
namespace openapi_test {

using json::Value;

const OpenApi& openapi() {
  static const OpenApi kOpenApi(Registry::builtin());
  return kOpenApi;
}

std::string path_of(const Resource& resource) {
  const auto& [group, version, kind] = resource.gvk;
  return (group.empty() ? "api/" : "apis/" + group + "/") + version;
}

// All documents, parsed once.
const json::Tree& document(const std::string& path) {
  static std::map<std::string, std::unique_ptr<json::Tree>> parsed;
  auto& tree = parsed[path];
  if (tree == nullptr) {
    const Document* found = openapi().find(path);
    MUSTER_ASSERT(found != nullptr, "no such document");
    tree = std::make_unique<json::Tree>(found->body);
  }
  return *tree;
}

Value operation(const Resource& resource, std::string_view method) {
  const bool core = resource.gvk.group.empty();
  const auto path =
      fmt::format("/{}/{}/{}{}/{{name}}", core ? "api" : "apis", resource.gvk.api_version(),
                  resource.namespaced ? "namespaces/{namespace}/" : "", resource.plural);
  return document(path_of(resource)).root.get("paths").get(path).get(method);
}

// Whether all of `recorded` is in ours. Descriptions are our own; the recorded ones were cut away.
void expect_contains(Value ours, Value recorded, const std::string& where) {
  if (recorded.is_object()) {
    for (const json::Member& member : recorded.members()) {
      ASSERT_TRUE(ours.has(member.key)) << where << "." << member.key;
      expect_contains(ours.get(member.key), member.value, fmt::format("{}.{}", where, member.key));
    }
  } else if (recorded.is_array() && recorded.item(0).has("name")) {
    for (const Value item : recorded.items()) {
      const auto same = [&](Value other) {
        return json::equal(other.get("name"), item.get("name"));
      };
      const auto found = std::ranges::find_if(ours.items(), same);
      ASSERT_NE(found, ours.items().end()) << where << " " << json::write(item);
      expect_contains(*found, item, where + "[]");
    }
  } else {
    EXPECT_TRUE(json::equal(ours, recorded)) << where << "\n"
                                             << json::write(ours) << "\n"
                                             << json::write(recorded);
  }
}

TEST(OpenApi, HoldsWhatWasRecorded) {
  const json::Tree recorded(read_testdata("openapi_batch.json"));
  expect_contains(document("apis/batch/v1"), recorded, "");
}

void collect_references(Value value, std::set<std::string>& references) {
  for (const json::Member& member : value.members()) {
    if (member.key == "$ref" && member.value.is_string())
      references.emplace(member.value.as_string());
    collect_references(member.value, references);
  }
  for (const Value item : value.items()) collect_references(item, references);
}

TEST(OpenApi, EveryReferenceHolds) {
  for (const GroupVersions& group : Registry::builtin().groups()) {
    for (const std::string& version : group.versions) {
      const auto path = (group.group.empty() ? "api/" : "apis/" + group.group + "/") + version;
      const Value root = document(path);
      std::set<std::string> references;
      collect_references(root, references);
      EXPECT_FALSE(references.empty()) << path;
      for (const std::string& reference : references) {
        constexpr std::string_view kPrefix = "#/components/schemas/";
        ASSERT_TRUE(reference.starts_with(kPrefix)) << reference;
        EXPECT_TRUE(root.get({"components", "schemas"}).has(reference.substr(kPrefix.size())))
            << reference << " in " << path;
      }
    }
  }
}

// What kubectl looks for before it sends anything (spec: apimachinery 7.2).
TEST(OpenApi, EveryKindSaysHowItIsPatchedAndValidated) {
  for (const Resource* resource : Registry::builtin().resources()) {
    if (!resource->has_verb("patch")) continue;
    const Value patch = operation(*resource, "patch");
    EXPECT_THAT(
        patch.get("x-kubernetes-group-version-kind"),
        json::IsJson(fmt::format(R"({{"group":"{}","version":"{}","kind":"{}"}})",
                                 resource->gvk.group, resource->gvk.version, resource->gvk.kind)));
    const auto parameters = patch.get("parameters").items();
    for (const auto* wanted : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
      EXPECT_TRUE(std::ranges::any_of(parameters,
                                      [&](Value p) { return p.get("name").as_string() == wanted; }))
          << resource->qualified() << " " << wanted;
    }
    const Value content = patch.get({"requestBody", "content"});
    EXPECT_TRUE(content.has("application/apply-patch+yaml"));
    EXPECT_EQ(content.has("application/strategic-merge-patch+json"), !resource->custom)
        << resource->qualified();
  }
}

TEST(OpenApi, EveryKindHasAComponentOfItsName) {
  for (const Resource* resource : Registry::builtin().resources()) {
    const Value component =
        document(path_of(*resource)).root.get({"components", "schemas", component_name(*resource)});
    const auto kinds = component.get("x-kubernetes-group-version-kind").items();
    EXPECT_TRUE(std::ranges::any_of(kinds, [&](Value kind) {
      return kind.get("kind").as_string() == resource->gvk.kind &&
             kind.get("group").as_string() == resource->gvk.group &&
             kind.get("version").as_string() == resource->gvk.version;
    })) << resource->qualified();
  }
}

TEST(OpenApi, OperationsAreNamedOnce) {
  std::set<std::string> ids;
  for (const json::Member& path : document("api/v1").root.get("paths").members()) {
    for (const json::Member& method : path.value.members()) {
      if (method.key == "parameters") continue;
      EXPECT_TRUE(ids.emplace(method.value.get("operationId").as_string()).second)
          << path.key << " " << method.key;
    }
  }
  EXPECT_THAT(ids, testing::IsSupersetOf(
                       {"listCoreV1PodForAllNamespaces", "listCoreV1NamespacedPod",
                        "createCoreV1NamespacedPod", "deleteCoreV1CollectionNamespacedPod",
                        "readCoreV1Node", "replaceCoreV1NamespacedPodStatus",
                        "createCoreV1NamespacedPodEviction", "readCoreV1NamespacedPodLog"}));
}

TEST(OpenApi, BuiltInListsSayHowTheyMerge) {
  const Value pod_spec = document("api/v1").root.get(
      {"components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties"});
  EXPECT_THAT(pod_spec.get("containers"), testing::ResultOf(
                                              [](Value v) {
                                                v.erase("description");
                                                return v;
                                              },
                                              json::IsJson(R"({"type":"array",
      "items":{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.Container"}]},
      "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
      "x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"})")));
}

TEST(OpenApi, CustomResourcesAreWrittenInPlace) {
  const Value jobset =
      document("apis/jobset.x-k8s.io/v1alpha2")
          .root.get({"components", "schemas", "io.x-k8s.jobset.v1alpha2.JobSet", "properties"});
  EXPECT_EQ(json::write(jobset.get({"metadata", "allOf"})),
            R"([{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}])");
  const Value jobs = jobset.get({"spec", "properties", "replicatedJobs"});
  EXPECT_EQ(jobs.get("x-kubernetes-list-type").as_string(), "map");
  EXPECT_EQ(jobs.get({"items", "properties", "name", "type"}).as_string(), "string");
  EXPECT_TRUE(jobs.get({"items", "properties", "template", "properties"}).has("spec"));
}

TEST(OpenApi, TheIndexNamesEveryDocumentByItsHash) {
  const json::Tree index(openapi().index().body);
  const Value entry = index.root.get({"paths", "apis/batch/v1", "serverRelativeURL"});
  const Document* batch = openapi().find("apis/batch/v1");
  EXPECT_EQ(entry.as_string(), "/openapi/v3/apis/batch/v1?hash=" + batch->etag.substr(1, 128));
  std::size_t versions = 0;
  for (const GroupVersions& group : Registry::builtin().groups()) versions += group.versions.size();
  EXPECT_EQ(index.root.get("paths").size(), versions);
  EXPECT_EQ(openapi().find("apis/nosuch/v1"), nullptr);
  EXPECT_EQ(openapi().find("apis/batch/v1"), batch) << "made once";
}

}  // namespace openapi_test
}  // namespace muster::api
