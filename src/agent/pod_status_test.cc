#include "agent/pod_status.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

ContainerState container(const char* name) { return {.name = name, .image = "i"}; }
ContainerState running(const char* name) { return {.name = name, .image = "i", .started = Time{}}; }
ContainerState ended(const char* name, int code) {
  return {.name = name, .image = "i", .started = Time{}, .finished = Time{}, .exit_code = code};
}
ContainerState init(ContainerState state) {
  state.init = true;
  return state;
}

TEST(Phase, FollowsTheContainers) {
  EXPECT_EQ(phase({.containers = {running("a"), running("b")}}), "Running");
  EXPECT_EQ(phase({.containers = {ended("a", 0), running("b")}}), "Running");
  EXPECT_EQ(phase({.containers = {ended("a", 0), ended("b", 0)}}), "Succeeded");
  EXPECT_EQ(phase({.containers = {ended("a", 0), ended("b", 3)}}), "Failed");
}

TEST(Phase, IsPendingUntilInitContainersAreThrough) {
  EXPECT_EQ(phase({.containers = {init(running("i")), container("a")}}), "Pending");
  EXPECT_EQ(phase({.containers = {init(ended("i", 1)), container("a")}}), "Failed");
  EXPECT_EQ(phase({.containers = {init(ended("i", 0)), running("a")}}), "Running");
}

TEST(PodStatus, TellsTheExitCodeAndItsReason) {
  json::Arena arena;
  const json::Value status = pod_status(arena, {.containers = {ended("a", 3)}}, {}, Time{});
  const json::Value terminated =
      status.get("containerStatuses").item(0).get({"state", "terminated"});
  EXPECT_EQ(terminated.get("exitCode").as_int(), 3);
  EXPECT_EQ(terminated.get("reason").as_string(), "Error");
}

TEST(PodStatus, AConditionKeepsTheTimeOfItsLastChange) {
  json::Arena arena;
  const PodState state{.containers = {running("a")}};
  const json::Value first = pod_status(arena, state, {}, Time{});
  const json::Value later = pod_status(arena, state, first, Time{std::chrono::hours(1)});
  EXPECT_TRUE(json::equal(first.get("conditions"), later.get("conditions")));
}

}  // namespace
}  // namespace muster::agent
