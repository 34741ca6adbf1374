#include "controllers/manager/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::controllers::manager {
namespace plan_test {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan plan_for(const char* deployment) {
  const api::Registry& registry = api::Registry::builtin();
  const Kinds kinds{*registry.find("", "v1", "namespaces"),
                    *registry.find("apps", "v1", "deployments")};
  json::Arena arena;
  return plan(kinds, json::parse(arena, deployment).value(), Time());
}

TEST(Manager, IsMadeWithItsNamespaceFirst) {
  const auto writes = plan_for("null").operations();
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[0].summary(), "create namespaces jobset-system");
  EXPECT_EQ(writes[1].summary(), "create deployments.apps jobset-system/jobset-controller-manager");
  json::Arena arena;
  EXPECT_TRUE(json::parse(arena, writes[1].body.text())) << writes[1].body.text();
}

TEST(Manager, BecomesAvailableOnceItIsThere) {
  const auto writes = plan_for(R"({"metadata":{"generation":7}})").operations();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].subresource, "status");
  json::Arena arena;
  const json::Value status = json::parse(arena, writes[0].body.text()).value().get("status");
  EXPECT_EQ(status.get("observedGeneration").as_int(), 7);
  EXPECT_EQ(status.get("conditions").item(0).get("status").as_string(), "True");
}

TEST(Manager, IsLeftAloneAfterwards) {
  EXPECT_THAT(plan_for(R"({"status":{"conditions":[{"type":"Available","status":"True"}]}})").steps,
              IsEmpty());
}

}  // namespace plan_test
}  // namespace muster::controllers::manager
