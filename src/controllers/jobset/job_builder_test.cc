#include "controllers/jobset/job_builder.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace job_builder_test {

using json::IsJson;
using json::Value;

// The labels and annotations of section 4.2, without the common part of their keys.
std::map<std::string, std::string> stamped(Value map) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : map.members()) {
    if (key.starts_with(label::kJobSetPrefix))
      out.emplace(key.substr(label::kJobSetPrefix.size()), value.as_string());
  }
  return out;
}

class Built : public ::testing::Test {
 protected:
  // Builds one Job of an entry of the set.
  Value build(std::string_view set_text, std::string_view entry = "w", int index = 0) {
    set_ = read(set_text);
    set_.meta.ns = "ns";
    set_.meta.uid = "u";
    if (prepare) prepare(set_);
    builder_ = std::make_unique<JobBuilder>(set_, *set_.replicated_job(entry), gates_);
    return built(index);
  }
  Value built(int index) { return json::parse(arena_, builder_->build(index)).value(); }
  static Value pod_of(Value job) { return job.get({"spec", "template", "spec"}); }
  static Value annotations_of(Value job) { return job.get({"metadata", "annotations"}); }

  std::function<void(api::JobSet&)> prepare;
  Gates gates_;
  api::JobSet set_;
  std::unique_ptr<JobBuilder> builder_;
  json::Arena arena_;
};

TEST_F(Built, JobsAndPodsCarryTheSameLabelsAndAnnotations) {
  prepare = [](api::JobSet& set) { set.status.restarts = 3; };
  const Value job = build(
      jobset({admission::job("a", {.replicas = 2}), admission::job("w", {.replicas = 3})}), "w", 1);
  const std::map<std::string, std::string> expected{
      {"jobset-name", "js"},       {"jobset-uid", "u"},
      {"replicatedjob-name", "w"}, {"replicatedjob-replicas", "3"},
      {"global-replicas", "5"},    {"job-index", "1"},
      {"job-global-index", "3"},   {"job-key", "05b7e2c46893c9e9b1e4dccc98fa0a862b1f8959"},
      {"restart-attempt", "3"},    {"group-name", "default"},
      {"group-replicas", "5"},     {"job-group-index", "3"},
  };
  for (const Value metadata : {job.get("metadata"), job.get({"spec", "template", "metadata"})}) {
    EXPECT_EQ(stamped(metadata.get("labels")), expected);
    EXPECT_EQ(stamped(metadata.get("annotations")), expected);
  }
  EXPECT_EQ(job.get({"metadata", "name"}).as_string(), "js-w-1");
  EXPECT_THAT(job.get({"metadata", "ownerReferences"}),
              IsJson(R"([{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "js",
                          "uid": "u", "controller": true, "blockOwnerDeletion": true}])"));
}

TEST_F(Built, TheSameBuilderMakesAllIndexes) {
  build(jobset({admission::job("w", {.replicas = 12})}));
  for (const int index : {11, 0, 5}) {
    const Value job = built(index);
    EXPECT_EQ(job.get({"metadata", "name"}).as_string(), fmt::format("js-w-{}", index));
    EXPECT_EQ(stamped(job.get({"metadata", "labels"})).at("job-index"), std::to_string(index));
    EXPECT_EQ(stamped(job.get({"metadata", "labels"})).at("job-key"),
              job_key("ns", fmt::format("js-w-{}", index)));
  }
}

TEST_F(Built, GroupsHaveIndexesOfTheirOwn) {
  const std::string set =
      jobset({admission::job("a", {.replicas = 2, .more = R"("groupName": "x")"}),
              admission::job("b", {.replicas = 3, .more = R"("groupName": "y")"}),
              admission::job("c", {.replicas = 4, .more = R"("groupName": "x")"})});
  auto labels = stamped(build(set, "c", 1).get({"metadata", "labels"}));
  EXPECT_EQ(labels.at("job-global-index"), "6");
  EXPECT_EQ(labels.at("group-name"), "x");
  EXPECT_EQ(labels.at("group-replicas"), "6");
  EXPECT_EQ(labels.at("job-group-index"), "3");
  labels = stamped(build(set, "b", 0).get({"metadata", "labels"}));
  EXPECT_EQ(labels.at("job-global-index"), "2");
  EXPECT_EQ(labels.at("job-group-index"), "0");
}

TEST_F(Built, UsersMetadataIsKeptButNotOverOurs) {
  const Value job = build(R"({"metadata": {"name": "js", "labels": {"of": "the set"}}, "spec": {
      "replicatedJobs": [{"name": "w", "template": {
        "metadata": {"name": "ignored", "namespace": "ignored", "finalizers": ["x/y"],
          "labels": {"mine": "1", "jobset.sigs.k8s.io/job-index": "9"}, "annotations": {"note": "n"}},
        "spec": {"suspend": true, "template": {"metadata": {"labels": {"pod": "1"}}, "spec": {}}}}}]}})");
  const Value labels = job.get({"metadata", "labels"});
  EXPECT_EQ(labels.get("mine").as_string(), "1");
  EXPECT_FALSE(labels.has("of"));
  EXPECT_EQ(labels.get(label::kJobIndex).as_string(), "0");
  EXPECT_EQ(annotations_of(job).get("note").as_string(), "n");
  EXPECT_FALSE(job.get("metadata").has("finalizers"));
  EXPECT_EQ(job.get({"metadata", "name"}).as_string(), "js-w-0");
  EXPECT_EQ(job.get({"metadata", "namespace"}).as_string(), "ns");
  EXPECT_EQ(job.get({"spec", "template", "metadata", "labels", "pod"}).as_string(), "1");
  EXPECT_FALSE(job.get({"spec", "suspend"}).as_bool()) << "the set decides, not the template";
}

TEST_F(Built, ASuspendedSetMakesSuspendedJobs) {
  EXPECT_TRUE(build(jobset({admission::job("w")}, R"("suspend": true,)"))
                  .get({"spec", "suspend"})
                  .as_bool());
  EXPECT_TRUE(build(jobset({admission::job("w")})).get({"spec"}).has("suspend"));
}

TEST_F(Built, HostnamesNeedASubdomain) {
  const std::string pod = R"("containers": [], "subdomain": "mine")";
  EXPECT_EQ(
      pod_of(build(jobset({admission::job("w")}, R"("network": {"enableDNSHostnames": true},)")))
          .get("subdomain")
          .as_string(),
      "js");
  EXPECT_EQ(pod_of(build(jobset({admission::job("w", {.pod = pod})},
                                R"("network": {"enableDNSHostnames": true, "subdomain": "net"},)")))
                .get("subdomain")
                .as_string(),
            "net");
  for (const std::string_view off : {"", R"("network": {"enableDNSHostnames": false},)"}) {
    EXPECT_EQ(pod_of(build(jobset({admission::job("w", {.pod = pod})}, off)))
                  .get("subdomain")
                  .as_string(),
              "mine");
  }
}

TEST_F(Built, TheCoordinatorIsKnownToAll) {
  const std::string set = jobset(
      {admission::job("w"), admission::job("x")},
      R"("coordinator": {"replicatedJob": "x", "jobIndex": 1, "podIndex": 2}, "network": {"subdomain": "net"},)");
  for (const std::string_view entry : {"w", "x"}) {
    const Value job = build(set, entry);
    for (const Value metadata : {job.get("metadata"), job.get({"spec", "template", "metadata"})}) {
      EXPECT_EQ(metadata.get("labels").get(label::kCoordinator).as_string(), "js-x-1-2.net");
      EXPECT_EQ(metadata.get("annotations").get(label::kCoordinator).as_string(), "js-x-1-2.net");
    }
  }
  EXPECT_FALSE(
      build(jobset({admission::job("w")})).get({"metadata", "labels"}).has(label::kCoordinator));
}

TEST_F(Built, SingleRestartsShowOnlyWithTheirGate) {
  prepare = [](api::JobSet& set) {
    set.status.replicated_jobs = {{.name = "w", .job_restarts = {0, 4}}};
  };
  const std::string set = jobset({admission::job("w", {.replicas = 2})});
  EXPECT_FALSE(build(set, "w", 1).get({"metadata", "labels"}).has(label::kJobRestartAttempt));
  gates_.restart_job = true;
  const Value job = build(set, "w", 1);
  EXPECT_EQ(job.get({"metadata", "labels"}).get(label::kJobRestartAttempt).as_string(), "4");
  EXPECT_EQ(job.get({"spec", "template", "metadata", "annotations"})
                .get(label::kJobRestartAttempt)
                .as_string(),
            "4");
  EXPECT_EQ(built(0).get({"metadata", "labels"}).get(label::kJobRestartAttempt).as_string(), "0");
}

// Exclusive placement: which level asks, and how.
std::string exclusive_set(std::string_view set_annotations, std::string_view job_annotations) {
  return fmt::format(R"({{"metadata": {{"name": "js", "annotations": {{{}}}}}, "spec": {{
      "replicatedJobs": [{{"name": "w", "template": {{"metadata": {{"annotations": {{{}}}}},
        "spec": {{"template": {{"spec": {{}}}}}}}}}}]}}}})",
                     set_annotations, job_annotations);
}
constexpr std::string_view kTopology = R"("alpha.jobset.sigs.k8s.io/exclusive-topology": "rack")";
constexpr std::string_view kOtherTopology =
    R"("alpha.jobset.sigs.k8s.io/exclusive-topology": "zone")";
constexpr std::string_view kStrategy = R"("alpha.jobset.sigs.k8s.io/node-selector": "true")";

TEST_F(Built, ExclusivePlacementIsAnnotatedOnJobAndPods) {
  const struct {
    std::string set, job;
    std::string_view topology;
    bool strategy;
  } rows[] = {
      {"", "", "", false},
      {std::string(kTopology), "", "rack", false},
      {"", std::string(kTopology), "rack", false},
      {std::string(kTopology), std::string(kOtherTopology), "zone", false},
      {fmt::format("{}, {}", kTopology, kStrategy), "", "rack", true},
      {"", fmt::format("{}, {}", kTopology, kStrategy), "rack", true},
      {fmt::format("{}, {}", kTopology, kStrategy), std::string(kOtherTopology), "zone", true},
      {std::string(kStrategy), "", "", false},
      {std::string(kStrategy), std::string(kTopology), "rack", false},
  };
  for (const auto& row : rows) {
    const Value job = build(exclusive_set(row.set, row.job));
    SCOPED_TRACE(row.set + " | " + row.job);
    for (const Value annotations :
         {annotations_of(job), job.get({"spec", "template", "metadata", "annotations"})}) {
      EXPECT_EQ(annotations.get(annotation::kExclusiveTopology).as_string(), row.topology);
      EXPECT_EQ(annotations.has(annotation::kNodeSelectorStrategy), row.strategy);
    }
    EXPECT_FALSE(job.get({"metadata", "labels"}).has(annotation::kExclusiveTopology));
    EXPECT_EQ(pod_of(job).has("nodeSelector"), row.strategy);
  }
}

TEST_F(Built, TheNodeSelectorStrategyUsesNodesLabelledBeforehand) {
  const Value pod = pod_of(build(exclusive_set(fmt::format("{}, {}", kTopology, kStrategy), "")));
  EXPECT_THAT(pod.get("nodeSelector"),
              IsJson(R"({"alpha.jobset.sigs.k8s.io/namespaced-job": "ns_js-w-0"})"));
  EXPECT_THAT(pod.get("tolerations"), IsJson(R"([{"key": "alpha.jobset.sigs.k8s.io/no-schedule",
                                                  "operator": "Exists", "effect": "NoSchedule"}])"));
}

TEST_F(Built, AClaimIsAVolumeOfTheJobsThatMountIt) {
  const std::string claims = R"("volumeClaimPolicies": [
      {"templates": [{"metadata": {"name": "data"}}, {"metadata": {"name": "model"}}]}],)";
  const auto volumes = [&](std::string_view containers) {
    const std::string pod = fmt::format(R"({}, "volumes": [{{"name": "own"}}])", containers);
    return pod_of(build(jobset({admission::job("w", {.pod = pod})}, claims))).get("volumes");
  };
  const std::string_view mount = R"("volumeMounts": [{"name": "data", "mountPath": "/d"}])";
  EXPECT_THAT(volumes(R"("containers": [{"name": "c"}])"), IsJson(R"([{"name": "own"}])"));
  EXPECT_THAT(volumes(fmt::format(R"("containers": [{{"name": "c"}}, {{{}}}])", mount)),
              IsJson(R"([{"name": "own"},
                         {"name": "data", "persistentVolumeClaim": {"claimName": "data-js"}}])"));
  EXPECT_THAT(volumes(fmt::format(R"("containers": [], "initContainers": [{{{}}}])", mount)),
              IsJson(R"([{"name": "own"},
                         {"name": "data", "persistentVolumeClaim": {"claimName": "data-js"}}])"));
}

TEST_F(Built, AResumedJobRunsWhereTheTemplateSaysNow) {
  build(jobset({admission::job(
      "w", {.pod = R"("containers": [], "nodeSelector": {"flavor": "b"},
                "tolerations": [{"key": "t"}], "schedulingGates": [{"name": "g"}])",
            .pod_metadata = R"({"labels": {"l": "1", "jobset.sigs.k8s.io/job-index": "9"},
                                "annotations": {"a": "1"}})"})}));
  Child still = child();
  still.node_selector_keys = {"flavor", "stale"};
  EXPECT_THAT(builder_->resume_patch(arena_, still).get("spec"), IsJson(R"({"suspend": false,
      "template": {"metadata": {"labels": {"l": "1"}, "annotations": {"a": "1"}},
        "spec": {"nodeSelector": {"flavor": "b", "stale": null}, "tolerations": [{"key": "t"}],
                 "schedulingGates": [{"name": "g"}]}}})"));
}

TEST_F(Built, AResumedJobForgetsWhatTheTemplateNoLongerSays) {
  build(jobset({admission::job("w")}));
  EXPECT_THAT(builder_->resume_patch(arena_, child()).get("spec"), IsJson(R"({"suspend": false,
      "template": {"spec": {"tolerations": null, "schedulingGates": null}}})"));
}

TEST_F(Built, JobsAreKnownByTheTemplateThatTheyRunBy) {
  const auto digest_of_set = [this](const char* pod) {
    const Value job = build(jobset({admission::job("w", {.pod = pod})}));
    const auto digest = job.get({"metadata", "annotations", kTemplateDigest}).as_string();
    const Value resumed = builder_->resume_patch(arena_, child());
    EXPECT_EQ(resumed.get({"metadata", "annotations", kTemplateDigest}).as_string(), digest);
    return std::string(digest);
  };
  const std::string plain = digest_of_set(R"("containers": [])");
  EXPECT_EQ(plain.size(), 16u);
  EXPECT_EQ(digest_of_set(R"("containers": [{"name": "c"}], "nodeSelector": {})"), plain);
  const std::string placed =
      digest_of_set(R"("containers": [], "nodeSelector": {"a": "1", "b": "2"})");
  EXPECT_NE(placed, plain);
  EXPECT_EQ(digest_of_set(R"("containers": [], "nodeSelector": {"b": "2", "a": "1"})"), placed);
  EXPECT_NE(digest_of_set(R"("containers": [], "schedulingGates": [{"name": "g"}])"), plain);
  EXPECT_EQ(digest_of_set(R"("containers": [], "tolerations": [{"key": "k", "value": ""}])"),
            digest_of_set(R"("containers": [], "tolerations": [{"key": "k"}])"));
}

TEST_F(Built, AResumedJobKeepsItsExclusiveNodes) {
  build(exclusive_set(fmt::format("{}, {}", kTopology, kStrategy), ""));
  Child still = child();
  still.node_selector_keys = {std::string(kNamespacedJob)};
  const Value pod = builder_->resume_patch(arena_, still).get({"spec", "template", "spec"});
  EXPECT_THAT(pod.get("nodeSelector"),
              IsJson(R"({"alpha.jobset.sigs.k8s.io/namespaced-job": "ns_js-w-0"})"));
  EXPECT_EQ(pod.get("tolerations").size(), 1u);
}

}  // namespace job_builder_test
}  // namespace muster::controllers::jobset
