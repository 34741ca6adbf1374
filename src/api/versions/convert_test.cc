#include "api/versions/convert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/testing.h"
#include "base/rng.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::api {
namespace convert_test {

using json::Value;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSchedulingGroup = "scheduling.k8s.io";

const Resource& gang_version(std::string_view version, std::string_view kind) {
  return resource(fmt::format("{}/{}", kSchedulingGroup, version), kind);
}

// The object as `to` has it.
std::string converted(std::string_view text, const Resource& from, const Resource& to) {
  const json::Tree tree(text);
  json::Arena arena;
  return json::write(convert(arena, tree, from, to));
}

struct VersionRow {
  std::string_view version;
  std::string_view text;
};

// Each row is the same object in the words of its version.
void expect_same_object(std::string_view kind, const std::vector<VersionRow>& rows) {
  for (const VersionRow& from : rows) {
    for (const VersionRow& to : rows) {
      EXPECT_EQ(
          converted(from.text, gang_version(from.version, kind), gang_version(to.version, kind)),
          decode_text(to.text, gang_version(to.version, kind)).text)
          << from.version << " to " << to.version;
    }
  }
}

TEST(Versions, AWorkloadIsTheSameInAllVersions) {
  expect_same_object(
      "Workload",
      {{"v1alpha1",
        R"({"metadata":{"name":"w"},"spec":{"controllerRef":{"kind":"JobSet","name":"j"},"podGroups":[
          {"name":"a","policy":{"gang":{"minCount":4}}},{"name":"b","policy":{"basic":{}}}]}})"},
       {"v1alpha2",
        R"({"metadata":{"name":"w"},"spec":{"controllerRef":{"kind":"JobSet","name":"j"},"podGroupTemplates":[
          {"name":"a","schedulingPolicy":{"gang":{"minCount":4}}},{"name":"b","schedulingPolicy":{"basic":{}}}]}})"},
       {"v1beta1",
        R"({"metadata":{"name":"w"},"spec":{"controllerRef":{"kind":"JobSet","name":"j"},"podGroupTemplates":[
          {"name":"a","schedulingPolicy":{"gang":{"minCount":4}}},{"name":"b","schedulingPolicy":{"basic":{}}}]}})"}});
}

TEST(Versions, TemplatesHaveMoreFieldsSinceV1alpha2) {
  expect_same_object("Workload",
                     {{"v1alpha2", R"({"metadata":{"name":"w"},"spec":{"podGroupTemplates":[
          {"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":{"topology":[{"key":"rack"}]},
           "disruptionMode":"PodGroup","priorityClassName":"high","priority":7},
          {"name":"b","schedulingPolicy":{"basic":{}},"disruptionMode":"Pod"}]}})"},
                      {"v1beta1", R"({"metadata":{"name":"w"},"spec":{"podGroupTemplates":[
          {"name":"a","schedulingPolicy":{"basic":{}},"schedulingConstraints":{"topology":[{"key":"rack"}]},
           "disruptionMode":{"all":{}},"priorityClassName":"high","priority":7},
          {"name":"b","schedulingPolicy":{"basic":{}},"disruptionMode":{"single":{}}}]}})"}});
}

TEST(Versions, APodGroupIsTheSameInBothVersions) {
  expect_same_object(
      "PodGroup",
      {{"v1alpha2",
        R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":"Pod",
          "podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},"priority":0},
          "status":{"conditions":[{"type":"PodGroupScheduled","status":"True"},{"type":"DisruptionTarget","status":"False"}]}})"},
       {"v1beta1",
        R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":{"single":{}},
          "workloadRef":{"workloadName":"w","templateName":"t"},"priority":0},
          "status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True"},{"type":"DisruptionTarget","status":"False"}]}})"}});
}

TEST(Versions, BothNamesOfTheConditionSurvive) {
  const std::string both =
      R"({"metadata":{"name":"g"},"status":{"conditions":[{"type":"PodGroupScheduled"},{"type":"PodGroupInitiallyScheduled"}]}})";
  const Resource& old = gang_version("v1alpha2", "PodGroup");
  const Resource& stored = gang_version("v1beta1", "PodGroup");
  EXPECT_EQ(converted(converted(both, stored, old), old, stored), decode_text(both, stored).text);
}

TEST(Versions, KueueAndKubernetesBothHaveAWorkload) {
  const Resource& kueue = resource("kueue.x-k8s.io/v1beta1", "Workload");
  const json::Tree workload(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","spec":{"priorityClassName":"high",)"
      R"("podGroups":[{"policy":1}],"priorityClassSource":"scheduling.k8s.io/priorityclass"}})");
  to_storage(workload, kueue);
  EXPECT_EQ(json::write(workload.root.get({"spec", "priorityClassRef"})),
            R"({"group":"scheduling.k8s.io","kind":"PriorityClass","name":"high"})");
  EXPECT_TRUE(workload.root.get("spec").has("podGroups"));
  from_storage(workload, kueue);
  EXPECT_EQ(workload.root.get({"spec", "priorityClassName"}).as_string(), "high");
  EXPECT_EQ(workload.root.get({"spec", "priorityClassSource"}).as_string(),
            "scheduling.k8s.io/priorityclass");
  EXPECT_FALSE(workload.root.get("spec").has("priorityClassRef"));
}

TEST(Versions, WhatAVersionCannotSayStaysAsItWas) {
  const Resource& old = gang_version("v1alpha1", "Workload");
  const Resource& stored = gang_version("v1beta1", "Workload");
  const json::Tree live(R"({"metadata":{"name":"w"},"spec":{"podGroupTemplates":[
      {"name":"a","schedulingPolicy":{"gang":{"minCount":2}},"schedulingConstraints":{"topology":[{"key":"rack"}]},"priority":7},
      {"name":"b","schedulingPolicy":{"basic":{}},"disruptionMode":{"all":{}}}]}})");
  json::Arena arena;
  const Value seen = convert(arena, live, stored, old);
  EXPECT_THAT(json::write(seen), Not(HasSubstr("rack")));
  seen.get({"spec", "podGroups"}).item(0).get({"policy", "gang"}).set("minCount", Value::of(3));
  seen.object_at("metadata").object_at("labels").set("a", "b");
  const std::string written = json::write(convert(arena, seen, old, stored, live));
  EXPECT_EQ(written,
            decode_text(R"({"metadata":{"name":"w","labels":{"a":"b"}},"spec":{"podGroupTemplates":[
      {"name":"a","schedulingPolicy":{"gang":{"minCount":3}},"schedulingConstraints":{"topology":[{"key":"rack"}]},"priority":7},
      {"name":"b","schedulingPolicy":{"basic":{}},"disruptionMode":{"all":{}}}]}})",
                        stored)
                .text);
}

TEST(Versions, AFieldThatTheVersionKnowsCanBeTakenAway) {
  const Resource& old = gang_version("v1alpha2", "PodGroup");
  const Resource& stored = gang_version("v1beta1", "PodGroup");
  const json::Tree live(
      R"({"metadata":{"name":"g"},"spec":{"disruptionMode":{"all":{}},"preemptionPolicy":"Never"}})");
  json::Arena arena;
  const Value seen = convert(arena, live, stored, old);
  EXPECT_FALSE(seen.get("spec").has("preemptionPolicy"));
  seen.get("spec").erase("disruptionMode");
  const Value written = convert(arena, seen, old, stored, live);
  EXPECT_FALSE(written.get("spec").has("disruptionMode"));
  EXPECT_EQ(written.get({"spec", "preemptionPolicy"}).as_string(), "Never");
}

TEST(Versions, StrangeTreesDoNoHarm) {
  for (const Resource* const each : Registry::builtin().resources()) {
    if (each->storage == each) continue;
    for (
        const std::string_view text :
        {"{}", R"({"spec":1,"status":[]})",
         R"({"spec":{"podGroups":{},"podGroupTemplates":[1,null,[]]}})",
         R"({"spec":{"podGroups":[1,{"policy":1}],"disruptionMode":["Pod"],"podGroupTemplateRef":{"workload":3}}})",
         R"({"spec":{"workloadRef":"x","disruptionMode":{"single":{},"all":{}}},"status":{"conditions":[1,{"type":2}]}})",
         R"({"spec":{"admissionChecks":[1],"flavorFungibility":2,"priorityClassRef":{"name":[]}}})"}) {
      const json::Tree tree(text);
      json::Arena arena;
      convert(arena, tree, *each, *each->storage, tree);
      convert(arena, tree, *each->storage, *each, tree);
    }
  }
}

// --- round trips of random objects ---

class RandomObjects {
 public:
  explicit RandomObjects(std::uint64_t seed) : rng_(seed) {}

  // As v1beta1 stores them, with all that the stored form can hold.
  std::string workload() {
    std::string templates;
    const std::uint64_t count = rng_.below(9);
    for (std::uint64_t i = 0; i < count; ++i)
      templates += fmt::format(R"({}{{"name":"t{}",{}}})", i == 0 ? "" : ",", i, group());
    return fmt::format(R"({{"metadata":{{"name":"w"{}}},"spec":{{"podGroupTemplates":[{}]{}{}}}}})",
                       maybe(R"(,"labels":{"a":"b"})"), templates,
                       maybe(R"(,"controllerRef":{"apiGroup":"x.io","kind":"K","name":"n"})"),
                       maybe(R"(,"compositePodGroupTemplates":[{"name":"c"}])"));
  }

  std::string pod_group() {
    return fmt::format(
        R"({{"metadata":{{"name":"g"}},"spec":{{{}{}{}}},"status":{{"conditions":[{{"type":"X","status":"True"}}{}{}]}}}})",
        group(), maybe(R"(,"workloadRef":{"workloadName":"w","templateName":"t"})"),
        maybe(R"(,"parentCompositePodGroupName":"p")"),
        maybe(R"(,{"type":"PodGroupScheduled","status":"True"})"),
        maybe(R"(,{"type":"PodGroupInitiallyScheduled","status":"False","reason":"R"})"));
  }

 private:
  std::string maybe(std::string_view text) { return std::string(rng_.chance(0.5) ? text : ""); }

  std::string group() {
    const std::string policy = rng_.chance(0.5)
                                   ? std::string(R"({"basic":{}})")
                                   : fmt::format(R"({{"gang":{{"minCount":{}}}}})", rng_.below(99));
    return fmt::format(R"("schedulingPolicy":{}{}{}{}{}{}{})", policy,
                       maybe(R"(,"schedulingConstraints":{"topology":[{"key":"rack"}]})"),
                       maybe(R"(,"resourceClaims":[{"name":"c","resourceClaimName":"d"}])"),
                       rng_.chance(0.5) ? maybe(R"(,"disruptionMode":{"single":{}})")
                                        : R"(,"disruptionMode":{"all":{}})",
                       maybe(R"(,"priorityClassName":"high")"),
                       rng_.chance(0.5) ? fmt::format(R"(,"priority":{})", rng_.below(1000)) : "",
                       maybe(R"(,"preemptionPolicy":"Never")"));
  }

  Rng rng_;
};

// An object that was read in some version and is written back by somebody who did not change it is
// as it was; and what a version can say is not changed by being stored.
void expect_round_trip(const std::string& text, const Resource& stored, const Resource& version) {
  const std::string canonical = decode_text(text, stored).text;
  const json::Tree live(canonical);
  json::Arena arena;
  const Value seen = convert(arena, live, stored, version);
  EXPECT_EQ(seen.get("apiVersion").as_string(), version.gvk.api_version());
  EXPECT_EQ(json::write(convert(arena, seen, version, stored, live)), canonical);
  EXPECT_EQ(json::write(convert(arena, convert(arena, seen, version, stored), stored, version)),
            json::write(seen));
  EXPECT_EQ(decode_text(json::write(seen), version).unknown, std::vector<std::string>());
}

TEST(Versions, RoundTripsLoseNothing) {
  constexpr std::uint64_t kSeeds = 500;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomObjects random(seed);
    const std::string workload = random.workload();
    for (const std::string_view version : {"v1alpha1", "v1alpha2", "v1beta1"})
      expect_round_trip(workload, gang_version("v1beta1", "Workload"),
                        gang_version(version, "Workload"));
    const std::string group = random.pod_group();
    for (const std::string_view version : {"v1alpha2", "v1beta1"})
      expect_round_trip(group, gang_version("v1beta1", "PodGroup"),
                        gang_version(version, "PodGroup"));
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << "\n"
                                              << workload << "\n"
                                              << group;
  }
}

}  // namespace convert_test
}  // namespace muster::api
