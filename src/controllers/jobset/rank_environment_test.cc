#include "controllers/jobset/rank_environment.h"

#include <gmock/gmock.h>

#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace rank_environment_test {

using json::IsJson;
using json::Value;

class RankEnvironment : public ::testing::Test {
 protected:
  // The pod template of one Job of a set that asks as said.
  Value pod_template(std::string_view asked, std::string_view text, std::string_view entry = "w",
                     int index = 0) {
    api::JobSet set = read(text);
    set.meta.uid = "u";
    if (!asked.empty()) set.meta.annotations.emplace_back(annotation::kRankEnvironment, asked);
    JobBuilder builder(set, *set.replicated_job(entry), {}, {.attempt = 0, .master_port = 12'345});
    return json::parse(arena_, builder.build(index))->get({"spec", "template"});
  }
  static Value env(Value pod_template, std::size_t container = 0) {
    return pod_template.get({"spec", "containers"}).item(container).get("env");
  }
  static std::string value_of(Value env, std::string_view name) {
    for (const Value each : env.items()) {
      if (each.get("name").as_string() != name) continue;
      const Value path = each.get({"valueFrom", "fieldRef", "fieldPath"});
      return std::string((path.is_null() ? each.get("value") : path).as_string());
    }
    return "none";
  }
  static std::string offset(Value pod_template) {
    return std::string(
        pod_template.get({"metadata", "annotations", annotation::kRankOffset}).as_string());
  }

  static constexpr std::string_view kNetwork = R"("network": {"enableDNSHostnames": true},)";
  static constexpr std::string_view kFour =
      R"("completionMode": "Indexed", "parallelism": 4, "completions": 4)";
  json::Arena arena_;
};

TEST_F(RankEnvironment, IsForThoseWhoAsk) {
  const std::string set = jobset({job("w", {.spec = kFour})}, kNetwork);
  for (const char* const asked : {"", "false", "x"}) {
    EXPECT_TRUE(env(pod_template(asked, set)).is_null()) << asked;
    EXPECT_EQ(offset(pod_template(asked, set)), "") << asked;
  }
}

TEST_F(RankEnvironment, OfOneJobTheIndexIsTheRank) {
  const Value pod = pod_template("true", jobset({job("w", {.spec = kFour})}, kNetwork));
  const std::string index = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
  EXPECT_THAT(env(pod),
              IsJson(fmt::format(
                  R"([{{"name": "RANK", "valueFrom": {{"fieldRef": {{"fieldPath": "{0}"}}}}}},
              {{"name": "NODE_RANK", "valueFrom": {{"fieldRef": {{"fieldPath": "{0}"}}}}}},
              {{"name": "WORLD_SIZE", "value": "4"}}, {{"name": "LOCAL_RANK", "value": "0"}},
              {{"name": "MASTER_ADDR", "value": "js-w-0-0.js"}},
              {{"name": "MASTER_PORT", "value": "{1}"}}])",
                  index, 12'345)));
}

TEST_F(RankEnvironment, RanksGoOnFromJobToJobAndFromEntryToEntry) {
  const std::string set =
      jobset({job("a", {.replicas = 2, .spec = kFour}), job("none", {.replicas = 0, .spec = kFour}),
              job("w", {.replicas = 3, .spec = kFour})},
             kNetwork);
  EXPECT_EQ(offset(pod_template("true", set, "a", 1)), "4");
  EXPECT_EQ(offset(pod_template("true", set, "w", 0)), "8");
  EXPECT_EQ(offset(pod_template("true", set, "w", 2)), "16");
  const Value last = env(pod_template("true", set, "w", 2));
  EXPECT_EQ(value_of(last, "RANK"), "metadata.annotations['muster.dev/rank']")
      << "pod admission adds the index";
  EXPECT_EQ(value_of(last, "WORLD_SIZE"), "20");
  EXPECT_EQ(value_of(last, "MASTER_ADDR"), "js-a-0-0.js");
}

TEST_F(RankEnvironment, OfOneEntryOthersDoNotCount) {
  const std::string set =
      jobset({job("a", {.spec = kFour}), job("w", {.replicas = 2, .spec = kFour})}, kNetwork);
  EXPECT_TRUE(env(pod_template("w", set, "a")).is_null());
  const Value pod = pod_template("w", set, "w", 1);
  EXPECT_EQ(offset(pod), "4");
  EXPECT_EQ(value_of(env(pod), "WORLD_SIZE"), "8");
  EXPECT_EQ(value_of(env(pod), "MASTER_ADDR"), "js-w-0-0.js");
}

TEST_F(RankEnvironment, NeverOverTheUsersOwnValuesAndBeforeThem) {
  const Value pod = pod_template(
      "true", jobset({job("w", {.spec = kFour, .pod = R"("containers": [{"name": "c", "env": [
                            {"name": "MASTER_PORT", "value": "29500"},
                            {"name": "WHO", "value": "$(RANK) of $(WORLD_SIZE) pods"}]},
                          {"name": "d"}], "initContainers": [{"name": "i"}])"})},
                     kNetwork));
  EXPECT_EQ(value_of(env(pod), "MASTER_PORT"), "29500");
  EXPECT_EQ(env(pod).item(0).get("name").as_string(), "RANK");
  EXPECT_EQ(env(pod).item(env(pod).size() - 1).get("name").as_string(), "WHO");
  EXPECT_EQ(value_of(env(pod, 1), "WORLD_SIZE"), "4");
  EXPECT_EQ(value_of(pod.get({"spec", "initContainers"}).item(0).get("env"), "WORLD_SIZE"), "4");
}

TEST_F(RankEnvironment, TheMasterIsTheCoordinatorIfThereIsOne) {
  const std::string set = jobset({job("w", {.spec = kFour})},
                                 R"("network": {"enableDNSHostnames": true, "subdomain": "net"},
                "coordinator": {"replicatedJob": "w", "podIndex": 2},)");
  EXPECT_EQ(value_of(env(pod_template("true", set)), "MASTER_ADDR"), "js-w-0-2.net");
}

TEST_F(RankEnvironment, WithoutNamesThereIsNoAddressAndWithoutIndexesNoRank) {
  const Value pod = pod_template(
      "true", jobset({job("w", {.spec = R"("completionMode": "NonIndexed", "parallelism": 2)"})}));
  EXPECT_EQ(value_of(env(pod), "RANK"), "none");
  EXPECT_EQ(value_of(env(pod), "MASTER_ADDR"), "none");
  EXPECT_EQ(value_of(env(pod), "WORLD_SIZE"), "2");
}

}  // namespace rank_environment_test
}  // namespace muster::controllers::jobset
