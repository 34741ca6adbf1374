// Pods: what recorded answers do not show.
#include <gtest/gtest.h>

#include "admission/testing.h"

namespace muster::admission {
namespace pod_test {

TEST(Pods, AreUpdatesOfThemselvesWhateverIsEmptyInThem) {
  const World world;
  const Outcome pod = world.create(
      "v1", "Pod", R"({"metadata": {"name": "p"}, "spec": {"affinity": {}, "nodeSelector": {},
                       "schedulingGates": [{"name": "g"}], "tolerations": [],
                       "containers": [{"name": "c", "image": "i", "env": []}]}})");
  ASSERT_EQ(pod.message(), "");
  const Outcome same = world.update("v1", "Pod", pod, pod.text());
  EXPECT_EQ(same.message(), "");
  EXPECT_EQ(same.text(), pod.text());
}

TEST(Pods, AskForWhatTheirImageTagSays) {
  const World world;
  const auto policy_of = [&](std::string_view image) {
    const Outcome pod = world.create("v1", "Pod",
                                     fmt::format(R"({{"metadata": {{"name": "p"}},
                         "spec": {{"containers": [{{"name": "c", "image": "{}"}}]}}}})",
                                                 image));
    return std::string(pod.at({"spec", "containers"}).item(0).get("imagePullPolicy").as_string());
  };
  EXPECT_EQ(policy_of("a"), "Always");
  EXPECT_EQ(policy_of("a:latest"), "Always");
  EXPECT_EQ(policy_of("host:5000/a"), "Always");
  EXPECT_EQ(policy_of("host:5000/a:1"), "IfNotPresent");
  EXPECT_EQ(policy_of("a@sha256:00"), "IfNotPresent");
  EXPECT_EQ(policy_of("a:latest@sha256:00"), "Always");
}

TEST(Pods, RestartNoContainerThatIsOverInTheirStatus) {
  const World world;
  Outcome pod = world.create("v1", "Pod", R"({"metadata": {"name": "p"}, "spec": {
      "restartPolicy": "OnFailure", "containers": [{"name": "c", "image": "i"}]}})");
  const auto ended = [](int code) {
    return fmt::format(
        R"({{"status": {{"containerStatuses": [{{"name": "c", "image": "i", "imageID": "",
        "ready": false, "restartCount": 0, "state": {{"terminated": {{"exitCode": {}}}}}}}]}}}})",
        code);
  };
  constexpr std::string_view kRuns =
      R"({"status": {"containerStatuses": [{"name": "c", "image": "i",
      "imageID": "", "ready": true, "restartCount": 1, "state": {"running": {}}}]}})";
  const Options status{.subresource = "status"};
  const Outcome failed = world.patch("v1", "Pod", pod, ended(1), status);
  EXPECT_EQ(world.patch("v1", "Pod", failed, kRuns, status).message(), "");
  const Outcome done = world.patch("v1", "Pod", pod, ended(0), status);
  EXPECT_NE(world.patch("v1", "Pod", done, kRuns, status).message(), "");
}

}  // namespace pod_test
}  // namespace muster::admission
