#include "agent/inputs/downward.h"

#include <gmock/gmock.h>

#include "json/testing.h"

namespace muster::agent {
namespace downward_test {

using json::Tree;

const Tree& pod() {
  static const Tree kPod(R"j({
    "metadata": {"name": "p", "namespace": "d", "uid": "u-1",
                 "labels": {"b/x": "2", "a": "1\"\n\t\\ü", "c": ""},
                 "annotations": {"n['x']": "odd", "Upper": "Case"}},
    "spec": {"nodeName": "n", "serviceAccountName": "sa", "containers": [
      {"name": "main", "resources": {"limits": {"cpu": "1500m", "memory": "1Gi", "hugepages-2Mi": "4Mi"},
                                     "requests": {"cpu": "100m", "memory": "1000001", "ephemeral-storage": "1Ki"}}},
      {"name": "free"}],
      "initContainers": [{"name": "first", "resources": {"limits": {"cpu": 2}}}]},
    "status": {"hostIP": "10.0.0.1", "podIP": "10.1.0.1",
               "hostIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd01::1"}]}
  })j");
  return kPod;
}

struct Field {
  std::string_view path;
  std::string_view value;
};
class FieldValue : public ::testing::TestWithParam<Field> {};
TEST_P(FieldValue, IsRead) { EXPECT_EQ(field_value(pod(), GetParam().path, {}), GetParam().value); }
INSTANTIATE_TEST_SUITE_P(
    Paths, FieldValue,
    ::testing::Values(
        Field{"metadata.name", "p"}, Field{"metadata.namespace", "d"}, Field{"metadata.uid", "u-1"},
        Field{"metadata.labels['b/x']", "2"}, Field{"metadata.labels['none']", ""},
        Field{"metadata.labels['c']", ""}, Field{"metadata.annotations['Upper']", "Case"},
        Field{"metadata.annotations['n['x']']", "odd"},
        Field{"metadata.labels", "a=\"1\\\"\\n\\t\\\\ü\"\nb/x=\"2\"\nc=\"\""},
        Field{"metadata.annotations", "Upper=\"Case\"\nn['x']=\"odd\""},
        Field{"spec.nodeName", "n"}, Field{"spec.serviceAccountName", "sa"},
        Field{"status.hostIP", "10.0.0.1"}, Field{"status.hostIPs", "10.0.0.1,fd00::1"},
        Field{"status.podIP", "10.1.0.1"}, Field{"status.podIPs", "10.1.0.1,fd01::1"}));

TEST(FieldValue, OfAnythingElseIsAnError) {
  EXPECT_EQ(field_value(pod(), "spec.hostname", {}).error().message,
            "unsupported fieldPath: spec.hostname");
  EXPECT_EQ(field_value(pod(), "['x']", {}).error().message, "unsupported fieldPath: ['x']");
  EXPECT_EQ(field_value(pod(), "metadata.name['x']", {}).error().message,
            "fieldPath \"metadata.name['x']\" does not support subscript");
}

TEST(FieldValue, TheNodeKnowsBeforeTheObjectDoes) {
  const Tree fresh(R"({"metadata": {"name": "p"}})");
  const PodFacts facts{.node_name = "n1", .host_ip = "127.0.0.1", .pod_ip = "127.9.0.1"};
  EXPECT_EQ(field_value(fresh, "spec.nodeName", facts), "n1");
  EXPECT_EQ(field_value(fresh, "status.hostIP", facts), "127.0.0.1");
  EXPECT_EQ(field_value(fresh, "status.hostIPs", facts), "127.0.0.1");
  EXPECT_EQ(field_value(fresh, "status.podIP", facts), "127.9.0.1");
  EXPECT_EQ(field_value(fresh, "status.podIPs", facts), "127.9.0.1");
}

struct Resource {
  std::string_view reference;
  std::string_view value;
};
class ResourceValue : public ::testing::TestWithParam<Resource> {};
TEST_P(ResourceValue, IsRoundedUp) {
  const Tree reference(GetParam().reference);
  const Tree allocatable(
      R"({"cpu": "8", "memory": "2Gi", "ephemeral-storage": "10Gi", "hugepages-2Mi": "8Mi"})");
  const auto main = pod().root.get({"spec", "containers"}).item(0);
  EXPECT_EQ(resource_value(pod(), main, reference, {.node_allocatable = allocatable.root}),
            GetParam().value);
}
INSTANTIATE_TEST_SUITE_P(
    References, ResourceValue,
    ::testing::Values(
        Resource{R"({"resource": "limits.cpu"})", "2"},
        Resource{R"({"resource": "limits.cpu", "divisor": "1m"})", "1500"},
        Resource{R"({"resource": "limits.cpu", "divisor": "0"})", "2"},
        Resource{R"({"resource": "requests.cpu"})", "1"},
        Resource{R"({"resource": "requests.cpu", "divisor": "1m"})", "100"},
        Resource{R"({"resource": "limits.memory"})", "1073741824"},
        Resource{R"({"resource": "limits.memory", "divisor": "1Mi"})", "1024"},
        Resource{R"({"resource": "requests.memory", "divisor": "1M"})", "2"},
        Resource{R"({"resource": "requests.ephemeral-storage"})", "1024"},
        Resource{R"({"resource": "limits.ephemeral-storage", "divisor": "1Gi"})", "10"},
        Resource{R"({"resource": "limits.hugepages-2Mi", "divisor": "1Mi"})", "4"},
        Resource{R"({"resource": "requests.hugepages-2Mi"})", "0"},
        Resource{R"({"resource": "limits.cpu", "containerName": "free"})", "8"},
        Resource{R"({"resource": "limits.memory", "containerName": "free"})", "2147483648"},
        Resource{R"({"resource": "limits.hugepages-2Mi", "containerName": "free"})", "0"},
        Resource{R"({"resource": "requests.memory", "containerName": "free"})", "0"},
        Resource{R"({"resource": "limits.cpu", "containerName": "first"})", "2"}));

TEST(ResourceValue, TheLimitOfThePodComesBeforeTheNodes) {
  const Tree bounded(
      R"({"spec": {"resources": {"limits": {"cpu": "3"}}, "containers": [{"name": "c"}]}})");
  const Tree allocatable(R"({"cpu": "8", "memory": "5"})");
  const PodFacts facts{.node_allocatable = allocatable.root};
  const auto container = bounded.root.get({"spec", "containers"}).item(0);
  EXPECT_EQ(resource_value(bounded, container, Tree(R"({"resource": "limits.cpu"})"), facts), "3");
  EXPECT_EQ(resource_value(bounded, container, Tree(R"({"resource": "limits.memory"})"), facts),
            "5");
}

TEST(ResourceValue, OfAnythingElseIsAnError) {
  const auto error = [](std::string_view reference) {
    return resource_value(pod(), {}, Tree(reference), {}).error().message;
  };
  EXPECT_EQ(error(R"({"resource": "limits.cpu", "containerName": "x"})"), "container x not found");
  EXPECT_EQ(error(R"({"resource": "limits.gpu", "containerName": "main"})"),
            "unsupported container resource : limits.gpu");
  EXPECT_EQ(error(R"({"resource": "cpu", "containerName": "main"})"),
            "unsupported container resource : cpu");
}

}  // namespace downward_test
}  // namespace muster::agent
