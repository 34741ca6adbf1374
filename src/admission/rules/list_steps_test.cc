// What admission does with long lists of a client. Each list grows fourfold; a rule that compares
// every item with every other takes sixteen times the comparisons then.
#include <gtest/gtest.h>

#include "admission/testing.h"
#include "base/comparisons_testing.h"

namespace muster::admission {
namespace list_steps_test {

// `pattern` for each number, with "{}" replaced: texts of one length, so that all are compared.
std::string list(int length, std::string_view pattern) {
  std::string text;
  for (int i = 0; i < length; ++i) {
    std::string item(pattern);
    const std::string number = fmt::format("n{:06}", i);
    for (auto at = item.find("{}"); at != std::string::npos; at = item.find("{}"))
      item.replace(at, 2, number);
    text += (text.empty() ? "" : ",") + item;
  }
  return "[" + text + "]";
}

std::string pod(std::string_view spec) {
  return fmt::format(R"({{"metadata": {{"name": "p"}}, "spec": {{"restartPolicy": "Never", {}}}}})",
                     spec);
}

std::string pod_of_containers(int length) {
  return pod(fmt::format(R"("containers": {})", list(length, R"({"name": "{}", "image": "i"})")));
}

std::string no_change(int) { return "{}"; }

constexpr std::string_view kContainer = R"("containers": [{"name": "c", "image": "i"}])";
constexpr std::string_view kEntry =
    R"({"name": "{}", "replicas": 1, "template": {"spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}})";

struct Case {
  std::string_view name;
  std::string_view api_version;
  std::string_view kind;
  std::string (*object)(int length);
  std::string (*change)(int length) = no_change;  // a merge patch
  std::string_view subresource = {};
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class LongLists : public testing::TestWithParam<Case> {
 protected:
  // Steps to create the object, to change it, and to update it with itself.
  static std::size_t steps(int length) {
    const Case& each = GetParam();
    const World world;
    const Options options{.subresource = each.subresource};
    comparisons = 0;
    const Outcome made = world.create(each.api_version, each.kind, each.object(length));
    EXPECT_EQ(made.message(), "");
    const Outcome changed =
        world.patch(each.api_version, each.kind, made, each.change(length), options);
    EXPECT_EQ(changed.message(), "");
    EXPECT_EQ(world.patch(each.api_version, each.kind, changed, "{}", options).message(), "");
    return comparisons;
  }
};

TEST_P(LongLists, CostNoMoreThanTheirLengthTimesItsLogarithm) {
  constexpr int kShort = 400;
  EXPECT_LT(steps(4 * kShort), 7 * steps(kShort));
}

INSTANTIATE_TEST_SUITE_P(
    Admission, LongLists,
    testing::Values(
        Case{"Tolerations", "v1", "Pod",
             [](int length) {
               return pod(fmt::format(R"({}, "tolerations": {})", kContainer,
                                      list(length, R"({"key": "{}", "operator": "Exists"})")));
             }},
        Case{"SchedulingGates", "v1", "Pod",
             [](int length) {
               return pod(fmt::format(R"({}, "schedulingGates": {})", kContainer,
                                      list(length, R"({"name": "{}"})")));
             }},
        Case{"Containers", "v1", "Pod", pod_of_containers},
        Case{"Resizes", "v1", "Pod", pod_of_containers, no_change, "resize"},
        Case{"EphemeralContainers", "v1", "Pod", pod_of_containers,
             [](int length) {
               return fmt::format(R"({{"spec": {{"ephemeralContainers": {}}}}})",
                                  list(length, R"({"name": "e{}", "image": "i",
                                       "imagePullPolicy": "Never", "targetContainerName": "{}",
                                       "terminationMessagePolicy": "File"})"));
             },
             "ephemeralcontainers"},
        Case{"ContainerStatuses", "v1", "Pod", [](int) { return pod(kContainer); },
             [](int length) {
               return fmt::format(R"({{"status": {{"containerStatuses": {}}}}})",
                                  list(length, R"({"name": "{}", "image": "i", "imageID": "",
                                       "ready": false, "restartCount": 0,
                                       "state": {"terminated": {"exitCode": 0}}})"));
             },
             "status"},
        Case{"VolumesAndMounts", "v1", "Pod",
             [](int length) {
               return pod(fmt::format(
                   R"("volumes": {}, "containers": [{{"name": "c", "image": "i", "env": {},
                      "volumeMounts": {}}}])",
                   list(length, R"({"name": "{}", "emptyDir": { }})"),
                   list(length, R"({"name": "{}", "value": "{}"})"),
                   list(length, R"({"name": "{}", "mountPath": "/{}"})")));
             }},
        Case{"Finalizers", "v1", "ConfigMap",
             [](int length) {
               return fmt::format(R"({{"metadata": {{"name": "c", "finalizers": {},
                                      "deletionTimestamp": "2026-11-15T09:45:40Z"}}}})",
                                  list(length, R"("example.com/{}")"));
             }},
        Case{"OwnerReferences", "v1", "ConfigMap",
             [](int length) {
               return fmt::format(
                   R"({{"metadata": {{"name": "c", "ownerReferences": {}}}}})",
                   list(length,
                        R"({"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "{}"})"));
             }},
        Case{"ReplicatedJobs", "jobset.x-k8s.io/v1alpha2", "JobSet",
             [](int length) {
               return fmt::format(
                   R"({{"metadata": {{"name": "s"}}, "spec": {{"replicatedJobs": {},
                      "groupSchedulingConfig": {{"targetReplicatedJobs": {}}}}}}})",
                   list(length, kEntry), list(length, R"("{}")"));
             }}),
    [](const auto& each) { return std::string(each.param.name); });

// A Job has at most twenty rules: more are refused, but each is looked at.
TEST(LongListsOfRules, CostNoMoreThanTheirLengthTimesItsLogarithm) {
  const auto steps = [](int length) {
    const std::string job = fmt::format(
        R"({{"metadata": {{"name": "j"}}, "spec": {{"podFailurePolicy": {{"rules": {}}},
            "template": {{"spec": {{"restartPolicy": "Never", "containers": {}}}}}}}}})",
        list(length, R"({"action": "FailJob", "onExitCodes": {"containerName": "{}",
             "operator": "In", "values": [1]}})"),
        list(length, R"({"name": "{}", "image": "i"})"));
    const World world;
    comparisons = 0;
    EXPECT_NE(world.create("batch/v1", "Job", job).message(), "");
    return comparisons;
  };
  EXPECT_LT(steps(1600), 7 * steps(400));
}

}  // namespace list_steps_test
}  // namespace muster::admission
