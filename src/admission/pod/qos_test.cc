#include "admission/pod/qos.h"

#include <gtest/gtest.h>

#include "json/testing.h"

namespace muster::admission {
namespace qos_test {

struct Row {
  const char* spec;
  const char* qos;
};

class Qos : public testing::TestWithParam<Row> {};

TEST_P(Qos, FollowsRequestsAndLimits) {
  const json::Tree spec(GetParam().spec);
  EXPECT_EQ(qos_class(spec.root), GetParam().qos);
}

INSTANTIATE_TEST_SUITE_P(
    All, Qos,
    testing::Values(
        Row{R"({"containers": [{}]})", "BestEffort"},
        Row{R"({"containers": [{"resources": {"requests": {"cpu": "0", "example.com/x": "1"}}}]})",
            "BestEffort"},
        Row{R"({"containers": [{"resources": {"requests": {"cpu": "1"}}}]})", "Burstable"},
        Row{R"({"containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                                              "limits": {"cpu": "1000m", "memory": "1024Mi"}}}]})",
            "Guaranteed"},
        Row{R"({"containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                                              "limits": {"cpu": "2", "memory": "1Gi"}}}]})",
            "Burstable"},
        Row{R"({"containers": [{"resources": {"requests": {"cpu": "1", "memory": "1"},
                                              "limits": {"cpu": "1", "memory": "1"}}}, {}]})",
            "Burstable"},
        Row{R"({"containers": [{"resources": {"requests": {"cpu": "1", "memory": "1"},
                                              "limits": {"cpu": "1", "memory": "1"}}}],
                "initContainers": [{}]})",
            "Burstable"},
        Row{R"({"containers": [{}], "resources": {"requests": {"cpu": "1", "memory": "1"},
                                                  "limits": {"cpu": "1", "memory": "1"}}})",
            "Guaranteed"}));

}  // namespace qos_test
}  // namespace muster::admission
