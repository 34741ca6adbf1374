#include "scheduler/place.h"

#include <gtest/gtest.h>

#include <vector>

#include "json/parse.h"

namespace muster::scheduler {
namespace {

class Place : public testing::Test {
 protected:
  json::Value parse(std::string_view text) { return *json::parse(arena_, text); }
  json::Arena arena_;
  const json::Value pod_ =
      parse(R"({"metadata":{"name":"p"},"spec":{"schedulerName":"default-scheduler"}})");
  const json::Value ready_ = parse(
      R"({"metadata":{"name":"n1"},"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  const json::Value down_ = parse(
      R"({"metadata":{"name":"n0"},"status":{"conditions":[{"type":"Ready","status":"False"}]}})");
};

TEST_F(Place, TakesTheFirstReadyNode) {
  const std::vector nodes = {down_, ready_};
  EXPECT_EQ(place(pod_, nodes), "n1");
}

TEST_F(Place, WaitsWhileNoNodeIsReady) {
  const std::vector nodes = {down_};
  EXPECT_EQ(place(pod_, nodes), "");
}

TEST_F(Place, LeavesCordonedNodesAlone) {
  ready_.object_at("spec").set("unschedulable", json::Value::of(true));
  const std::vector nodes = {ready_};
  EXPECT_EQ(place(pod_, nodes), "");
}

TEST_F(Place, LeavesPodsOfOtherSchedulersAlone) {
  pod_.get("spec").set("schedulerName", "another");
  const std::vector nodes = {ready_};
  EXPECT_EQ(place(pod_, nodes), "");
}

TEST_F(Place, LeavesGatedPodsAlone) {
  pod_.get("spec").array_at("schedulingGates").push_back(json::Value::object(arena_));
  const std::vector nodes = {ready_};
  EXPECT_EQ(place(pod_, nodes), "");
}

}  // namespace
}  // namespace muster::scheduler
