// Kinds that are served in several versions, and in several groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace versions_test {

using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestExchangePtr;
using testing::TestServer;

TEST(Versions, AnEventIsTheSameObjectInBothGroups) {
  TestServer server;
  server.make_namespace("a");
  const TestExchangePtr made = server.admin(
      "POST", "/apis/events.k8s.io/v1/namespaces/a/events",
      R"({"metadata":{"name":"e"},"eventTime":"2027-01-15T08:00:00.000000Z","reportingController":"x.io/c","reportingInstance":"i",)"
      R"("action":"Test","reason":"Because","regarding":{"kind":"Pod","name":"p","namespace":"a"},"note":"hello","type":"Normal"})");
  ASSERT_EQ(made->status, 201) << made->body;
  const TestExchangePtr core = server.admin("GET", "/api/v1/namespaces/a/events/e");
  EXPECT_EQ(at(*core, {"apiVersion"}), "v1");
  EXPECT_EQ(at(*core, {"message"}), "hello");
  EXPECT_EQ(at(*core, {"involvedObject", "name"}), "p");
  EXPECT_EQ(at(*core, {"reportingComponent"}), "x.io/c");
  const TestExchangePtr back = server.admin(
      "GET", "/apis/events.k8s.io/v1/namespaces/a/events?fieldSelector=regarding.name%3Dp");
  json::Arena arena;
  EXPECT_EQ(back->json(arena).get("items").item(0).get("note").as_string(), "hello");
}

TEST(Versions, AnOldClusterQueueIsReadInItsOwnWords) {
  TestServer server;
  const std::string body =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"cohort":"team",)"
      R"("namespaceSelector":{},"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"TryNextFlavor"}}})";
  const TestExchangePtr made =
      server.admin("POST", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues", body);
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"spec", "cohort"}), "team");
  const TestExchangePtr read = server.admin("GET", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q");
  EXPECT_EQ(at(*read, {"apiVersion"}), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(at(*read, {"spec", "cohortName"}), "team");
  EXPECT_EQ(at(*read, {"spec", "flavorFungibility", "whenCanBorrow"}), "MayStopSearch");
  EXPECT_EQ(http::find_header(made->headers, "Warning"),
            R"(299 - "This version is deprecated. Use v1beta2 instead.")");
}

// --- the gangs of scheduling.k8s.io: v1alpha1, v1alpha2 and v1beta1 ---

class GangVersions : public ::testing::Test {
 protected:
  GangVersions() { server.make_namespace("a"); }

  static std::string path(std::string_view version, std::string_view plural,
                          std::string_view name = "") {
    return fmt::format("/apis/scheduling.k8s.io/{}/namespaces/a/{}{}{}", version, plural,
                       name.empty() ? "" : "/", name);
  }
  TestExchangePtr get(std::string_view version, std::string_view plural, std::string_view name,
                      http::Headers headers = {}) {
    return server.admin("GET", path(version, plural, name), "", std::move(headers));
  }
  // The same Workload in the words of each version.
  static std::string workload(std::string_view version, int least) {
    const bool old = version == "v1alpha1";
    return fmt::format(
        R"({{"apiVersion":"scheduling.k8s.io/{}","kind":"Workload","metadata":{{"name":"w"}},"spec":{{"{}":[{{"name":"g","{}":{{"gang":{{"minCount":{}}}}}}}]}}}})",
        version, old ? "podGroups" : "podGroupTemplates", old ? "policy" : "schedulingPolicy",
        least);
  }
  static std::string_view least_of(json::Value object) {
    const std::string_view version = object.get("apiVersion").as_string();
    const bool old = version == "scheduling.k8s.io/v1alpha1";
    const json::Value group = object.get({"spec", old ? "podGroups" : "podGroupTemplates"}).item(0);
    const json::Value least = group.get({old ? "policy" : "schedulingPolicy", "gang", "minCount"});
    return least.as_int() == 4 ? "4" : least.as_int() == 6 ? "6" : "?";
  }
  // What a client of each version reads.
  void expect_least(std::string_view least) {
    for (const std::string_view version : kVersions) {
      const TestExchangePtr read = get(version, "workloads", "w");
      ASSERT_EQ(read->status, 200) << read->body;
      json::Arena arena;
      EXPECT_EQ(read->json(arena).get("apiVersion").as_string(),
                fmt::format("scheduling.k8s.io/{}", version));
      EXPECT_EQ(least_of(read->json(arena)), least) << version << read->body;
      const TestExchangePtr list = server.admin("GET", path(version, "workloads"));
      EXPECT_EQ(at(*list, {"apiVersion"}), fmt::format("scheduling.k8s.io/{}", version));
      EXPECT_EQ(list->json(arena).get("items").size(), 1U);
      EXPECT_THAT(list->body,
                  HasSubstr(version == "v1alpha1" ? R"("podGroups")" : R"("podGroupTemplates")"));
    }
  }

  static constexpr std::string_view kVersions[] = {"v1alpha1", "v1alpha2", "v1beta1"};
  TestServer server;
};

TEST_F(GangVersions, WhatOneVersionCreatesTheOthersRead) {
  for (const std::string_view version : kVersions) {
    const TestExchangePtr made =
        server.admin("POST", path(version, "workloads"), workload(version, 4));
    ASSERT_EQ(made->status, 201) << made->body;
    EXPECT_EQ(at(*made, {"apiVersion"}), fmt::format("scheduling.k8s.io/{}", version));
    expect_least("4");
    const std::string_view another = version == "v1alpha1" ? "v1beta1" : "v1alpha1";
    EXPECT_EQ(server.admin("DELETE", path(another, "workloads", "w"))->status, 200);
    EXPECT_EQ(get(version, "workloads", "w")->status, 404);
  }
}

TEST_F(GangVersions, EachVersionMayBePatched) {
  server.admin("POST", path("v1alpha1", "workloads"), workload("v1alpha1", 4));
  for (const std::string_view version : kVersions) {
    const std::string at_path = path(version, "workloads", "w");
    for (const std::string_view type : {"merge-patch+json", "strategic-merge-patch+json"}) {
      const std::string label = fmt::format("{}-{}", version, type.front());
      const TestExchangePtr done =
          server.patch(at_path, fmt::format(R"({{"metadata":{{"labels":{{"{}":"x"}}}}}})", label),
                       std::string(type));
      ASSERT_EQ(done->status, 200) << done->body;
      EXPECT_EQ(at(*get("v1beta1", "workloads", "w"), {"metadata", "labels", label}), "x");
    }
    const std::string list = version == "v1alpha1" ? "podGroups" : "podGroupTemplates";
    const TestExchangePtr added = server.patch(
        at_path,
        R"([{"op":"test","path":"/spec/)" + list +
            R"(/0/name","value":"g"},{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}])",
        "json-patch+json");
    EXPECT_EQ(added->status, 200) << added->body;
  }
  expect_least("4");
}

TEST_F(GangVersions, OnlyV1beta1ChangesTheNumber) {
  server.admin("POST", path("v1alpha1", "workloads"), workload("v1alpha1", 4));
  for (const std::string_view version : {"v1alpha1", "v1alpha2"}) {
    const TestExchangePtr refused =
        server.admin("PUT", path(version, "workloads", "w"), workload(version, 6));
    EXPECT_EQ(refused->status, 422) << refused->body;
  }
  EXPECT_THAT(
      server.admin("PUT", path("v1beta1", "workloads", "w"), workload("v1beta1", 6))->body,
      HasSubstr("metadata.resourceVersion: Invalid value: 0: must be specified for an update"));
  const TestExchangePtr done = server.patch(
      path("v1beta1", "workloads", "w"),
      R"({"spec":{"podGroupTemplates":[{"name":"g","schedulingPolicy":{"gang":{"minCount":6}}}]}})");
  EXPECT_EQ(done->status, 200) << done->body;
  expect_least("6");
}

TEST_F(GangVersions, AnOldClientDoesNotEraseWhatItCannotSee) {
  ASSERT_EQ(
      server
          .admin(
              "POST", path("v1beta1", "workloads"),
              R"({"metadata":{"name":"w"},"spec":{"podGroupTemplates":[{"name":"g","schedulingPolicy":{"gang":{"minCount":4}},)"
              R"("disruptionMode":{"all":{}},"schedulingConstraints":{"topology":[{"key":"rack"}]}}]}})")
          ->status,
      201);
  const std::string before = at(*get("v1beta1", "workloads", "w"), {"spec"});
  json::Arena arena;
  const json::Value seen = get("v1alpha1", "workloads", "w")->json(arena);
  EXPECT_THAT(json::write(seen.get("spec")), Not(HasSubstr("rack")));
  seen.get("metadata").object_at("labels").set("by", "old");
  const TestExchangePtr put =
      server.admin("PUT", path("v1alpha1", "workloads", "w"), json::write(seen));
  ASSERT_EQ(put->status, 200) << put->body;
  EXPECT_EQ(at(*put, {"apiVersion"}), "scheduling.k8s.io/v1alpha1");
  EXPECT_EQ(at(*get("v1beta1", "workloads", "w"), {"metadata", "labels", "by"}), "old");
  EXPECT_EQ(at(*get("v1beta1", "workloads", "w"), {"spec"}), before);
}

TEST_F(GangVersions, AnUnchangedObjectIsNotWrittenAgain) {
  server.admin("POST", path("v1beta1", "workloads"), workload("v1beta1", 4));
  for (const std::string_view version : kVersions) {
    const TestExchangePtr read = get(version, "workloads", "w");
    const TestExchangePtr put = server.admin("PUT", path(version, "workloads", "w"), read->body);
    EXPECT_EQ(put->status, 200) << put->body;
    EXPECT_EQ(put->body, read->body);
  }
}

TEST_F(GangVersions, AWatchShowsItsOwnVersion) {
  const std::string now = std::to_string(server.store->snapshot()->revision());
  std::vector<TestExchangePtr> streams;
  for (const std::string_view version : kVersions)
    streams.push_back(
        server.admin("GET", path(version, "workloads") +
                                "?watch=true&allowWatchBookmarks=true&resourceVersion=" + now));
  server.admin("POST", path("v1alpha1", "workloads"), workload("v1alpha1", 4));
  server.patch(path("v1beta1", "workloads", "w"), R"({"metadata":{"labels":{"a":"b"}}})");
  server.admin("DELETE", path("v1alpha2", "workloads", "w"));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    std::vector<std::string> types;
    for (const std::string& line : streams[i]->lines()) {
      json::Arena arena;
      const json::Value event = *json::parse(arena, line);
      types.emplace_back(event.get("type").as_string());
      EXPECT_EQ(event.get({"object", "apiVersion"}).as_string(),
                fmt::format("scheduling.k8s.io/{}", kVersions[i]));
      EXPECT_EQ(least_of(event.get("object")), "4") << line;
    }
    EXPECT_THAT(types, ElementsAre("ADDED", "MODIFIED", "DELETED")) << kVersions[i];
  }
}

TEST_F(GangVersions, AppliersOfDifferentVersionsShareAnObject) {
  const auto apply = [&](std::string_view version, const std::string& manager, int least,
                         std::string_view query = "") {
    return server.admin(
        "PATCH",
        fmt::format("{}?fieldManager={}{}", path(version, "workloads", "w"), manager, query),
        workload(version, least), {{"Content-Type", "application/apply-patch+yaml"}});
  };
  EXPECT_EQ(apply("v1alpha1", "one", 4)->status, 201);
  EXPECT_EQ(apply("v1beta1", "two", 4)->status, 200);
  const TestExchangePtr refused = apply("v1beta1", "two", 6);
  EXPECT_EQ(refused->status, 409);
  EXPECT_EQ(at(*refused, {"message"}),
            "Apply failed with 1 conflict: conflict with \"one\": "
            ".spec.podGroups[name=\"g\"].policy.gang.minCount");
  EXPECT_EQ(apply("v1beta1", "two", 6, "&force=true")->status, 200);
  expect_least("6");
  // Both keep entries in their own words, whoever looks.
  for (const std::string_view version : kVersions) {
    json::Arena arena;
    const json::Value entries =
        get(version, "workloads", "w")->json(arena).get({"metadata", "managedFields"});
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries.item(0).get("apiVersion").as_string(), "scheduling.k8s.io/v1alpha1");
    EXPECT_THAT(json::write(entries.item(0)), HasSubstr("f:podGroups"));
    EXPECT_THAT(json::write(entries.item(0)), Not(HasSubstr("minCount")));
    EXPECT_EQ(entries.item(1).get("apiVersion").as_string(), "scheduling.k8s.io/v1beta1");
    EXPECT_THAT(json::write(entries.item(1)), HasSubstr("f:minCount"));
  }
}

TEST_F(GangVersions, APodGroupIsTheSameInBothVersions) {
  const TestExchangePtr made = server.admin(
      "POST", path("v1alpha2", "podgroups"),
      R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":"PodGroup",)"
      R"("podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}}}})");
  ASSERT_EQ(made->status, 201) << made->body;
  const TestExchangePtr read = get("v1beta1", "podgroups", "g");
  EXPECT_EQ(at(*read, {"spec", "workloadRef"}), R"({"workloadName":"w","templateName":"t"})");
  EXPECT_EQ(at(*read, {"spec", "disruptionMode"}), R"({"all":{}})");
  EXPECT_EQ(get("v1alpha1", "podgroups", "g")->status, 404);

  const TestExchangePtr status = server.patch(
      path("v1beta1", "podgroups", "g/status"),
      R"({"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True","reason":"Scheduled","message":"",)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  ASSERT_EQ(status->status, 200) << status->body;
  EXPECT_THAT(get("v1alpha2", "podgroups", "g")->body, HasSubstr(R"("type":"PodGroupScheduled")"));
  for (const std::string_view version : {"v1alpha2", "v1beta1"}) {
    const TestExchangePtr table = get(version, "podgroups", "g",
                                      {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
    json::Arena arena;
    const json::Value cells = table->json(arena).get("rows").item(0).get("cells");
    EXPECT_EQ(cells.item(1).as_string(), "Gang");
    EXPECT_EQ(cells.item(2).as_string(), "w");
    EXPECT_EQ(cells.item(3).as_string(), "Scheduled") << version;
  }
}

TEST_F(GangVersions, KueuesWorkloadIsAnotherKind) {
  server.admin("POST", path("v1alpha1", "workloads"), workload("v1alpha1", 4));
  EXPECT_EQ(server.admin("GET", "/apis/kueue.x-k8s.io/v1beta1/namespaces/a/workloads/w")->status,
            404);
}

TEST_F(GangVersions, DiscoveryAndOpenApiHaveEachVersion) {
  EXPECT_THAT(server.admin("GET", "/apis/scheduling.k8s.io")->body,
              HasSubstr(R"("preferredVersion":{"groupVersion":"scheduling.k8s.io/v1")"));
  for (const std::string_view version : kVersions) {
    const TestExchangePtr resources =
        server.admin("GET", fmt::format("/apis/scheduling.k8s.io/{}", version));
    EXPECT_EQ(resources->status, 200);
    EXPECT_THAT(resources->body, HasSubstr(R"("name":"workloads")"));
    const TestExchangePtr document =
        server.admin("GET", fmt::format("/openapi/v3/apis/scheduling.k8s.io/{}", version));
    EXPECT_EQ(document->status, 200);
    EXPECT_THAT(document->body,
                HasSubstr(fmt::format(R"("io.k8s.api.scheduling.{}.Workload")", version)));
    EXPECT_THAT(server.admin("GET", "/openapi/v2")->body,
                HasSubstr(fmt::format(R"("io.k8s.api.scheduling.{}.Workload")", version)));
  }
}

TEST_F(GangVersions, APodKeepsTheNameOfItsGroup) {
  const TestExchangePtr made = server.admin(
      "POST", "/api/v1/namespaces/a/pods",
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"workloadRef":{"name":"w","podGroup":"g","podGroupReplicaKey":"0"}}})");
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"spec", "workloadRef"}),
            R"({"name":"w","podGroup":"g","podGroupReplicaKey":"0"})");
}

}  // namespace versions_test
}  // namespace muster::server
