#include "controllers/job/pod_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace pod_builder_test {

using testing::job;
using testing::pod;

Job with_template(std::string_view form, std::string_view spec = "") {
  Job j = job(spec);
  j.template_json = form;
  return j;
}

TEST(PodBuilder, APodIsItsTemplateAndBelongsToItsJob) {
  const Job j = with_template(
      R"({"metadata":{"name":"x","labels":{"l":"1"},"annotations":{"a":"2"},"finalizers":["f"],)"
      R"("generateName":"y"},"spec":{"containers":[{"name":"c"}],"hostname":"h"}})");
  PodBuilder builder(j);
  EXPECT_EQ(
      json::write(builder.build({.suffix = "abcde"})),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"d","labels":{"l":"1"},)"
      R"("annotations":{"a":"2"},"finalizers":["f","batch.kubernetes.io/job-tracking"],)"
      R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u-j",)"
      R"("controller":true,"blockOwnerDeletion":true}],"generateName":"j-","name":"j-abcde"},)"
      R"("spec":{"containers":[{"name":"c"}],"hostname":"h"}})");
}

TEST(PodBuilder, TheFinalizerIsThereOnce) {
  const Job j = with_template(
      R"({"metadata":{"finalizers":["batch.kubernetes.io/job-tracking"]},"spec":{}})");
  PodBuilder builder(j);
  EXPECT_EQ(json::write(builder.build({}).get({"metadata", "finalizers"})),
            R"(["batch.kubernetes.io/job-tracking"])");
}

TEST(PodBuilder, AnIndexedPodKnowsItsIndex) {
  const Job j = with_template(
      R"({"metadata":{},"spec":{"hostname":"h","subdomain":"s","initContainers":[{"name":"i"}],)"
      R"("containers":[{"name":"c","env":[{"name":"A","value":"1"}]},)"
      R"({"name":"own","env":[{"name":"JOB_COMPLETION_INDEX","value":"x"}]}]}})");
  PodBuilder builder(j);
  const json::Value built = builder.build({.index = 7});
  EXPECT_EQ(built.get({"metadata", "generateName"}).as_string(), "j-7-");
  EXPECT_EQ(built.get({"metadata", "labels"}).get(kCompletionIndex).as_string(), "7");
  EXPECT_EQ(built.get({"metadata", "annotations"}).get(kCompletionIndex).as_string(), "7");
  EXPECT_EQ(built.get({"spec", "hostname"}).as_string(), "j-7");
  EXPECT_EQ(built.get({"spec", "subdomain"}).as_string(), "s");
  constexpr std::string_view kVariable =
      R"({"name":"JOB_COMPLETION_INDEX","valueFrom":{"fieldRef":{"fieldPath":)"
      R"("metadata.labels['batch.kubernetes.io/job-completion-index']"}}})";
  EXPECT_EQ(json::write(built.get({"spec", "initContainers"}).item(0).get("env")),
            fmt::format("[{}]", kVariable));
  EXPECT_EQ(json::write(built.get({"spec", "containers"}).item(0).get("env")),
            fmt::format(R"([{{"name":"A","value":"1"}},{}])", kVariable));
  EXPECT_EQ(json::write(built.get({"spec", "containers"}).item(1).get("env")),
            R"([{"name":"JOB_COMPLETION_INDEX","value":"x"}])");
}

TEST(PodBuilder, OnePodDoesNotShowInTheNext) {
  const Job j = job(R"("completionMode":"Indexed","completions":3)");
  PodBuilder builder(j);
  const std::string first = json::write(builder.build({.index = 0}));
  builder.build({.index = 1});
  EXPECT_EQ(json::write(builder.build({.index = 0})), first);
}

TEST(PodBuilder, NamesAreCutBeforeTheIndexNotAfter) {
  const auto prefix = [](std::size_t length, std::int64_t index) {
    Job j = job("");
    j.ref.name = std::string(length, 'x');
    return name_prefix(j, index);
  };
  EXPECT_EQ(prefix(5, kNoIndex), "xxxxx-");
  EXPECT_EQ(prefix(5, 12), "xxxxx-12-");
  EXPECT_EQ(prefix(53, 123), fmt::format("{:x>53}-123-", ""));
  EXPECT_EQ(prefix(60, 123), fmt::format("{:x>53}-123-", ""));
  EXPECT_EQ(prefix(63, 0), fmt::format("{:x>55}-0-", ""));
  EXPECT_EQ(prefix(253, kNoIndex), std::string(253, 'x'));
}

TEST(PodBuilder, WithLimitsPerIndexPodsCarryTheirCounts) {
  const Job j = job(R"("completionMode":"Indexed","completions":3,"backoffLimitPerIndex":2,)"
                    R"("podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":)"
                    R"({"operator":"In","values":[4]}}]})");
  PodBuilder builder(j);
  const auto counts = [&](const Pod* replaced) {
    const json::Value annotations =
        builder.build({.index = 0, .replaced = replaced}).get({"metadata", "annotations"});
    return std::pair(std::string(annotations.get(kIndexFailureCount).as_string()),
                     std::string(annotations.get(kIndexIgnoredFailureCount).as_string()));
  };
  using ::testing::Pair;
  EXPECT_THAT(counts(nullptr), Pair("0", ""));
  const Pod counted = pod(0).failed();
  EXPECT_THAT(counts(&counted), Pair("1", ""));
  const Pod ignored = pod(0).failed({}, 4).annotation(kIndexFailureCount, "1");
  EXPECT_THAT(counts(&ignored), Pair("1", "1"));
  const Job plain = job("");
  PodBuilder without(plain);
  EXPECT_FALSE(without.build({}).get({"metadata", "annotations"}).has(kIndexFailureCount));
}

}  // namespace pod_builder_test
}  // namespace muster::controllers::job
