#include "server/pod_containers.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::server {
namespace pod_containers_test {

json::Value parsed(json::Arena& arena, std::string_view text) {
  return json::parse(arena, text).value();
}

TEST(ChooseContainer, TheOnlyOneOrTheNamedOne) {
  json::Arena arena;
  const json::Value one = parsed(
      arena,
      R"({"metadata":{"name":"p"},"spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"}]}})");
  EXPECT_EQ(choose_container(one, "").value(), "c");
  EXPECT_EQ(choose_container(one, "i").value(), "i");
  EXPECT_EQ(choose_container(one, "x").error().message, "container x is not valid for pod p");
  const json::Value two = parsed(
      arena,
      R"({"metadata":{"name":"p","annotations":{"kubectl.kubernetes.io/default-container":"d"}},)"
      R"("spec":{"initContainers":[{"name":"i"}],"containers":[{"name":"c"},{"name":"d"}]}})");
  EXPECT_EQ(choose_container(two, "").error().message,
            "a container name must be specified for pod p, choose one of: [i c d]");
}

// The run that is meant, or the refusal.
std::string chosen(std::string_view status, bool previous = false) {
  json::Arena arena;
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"p"}},"status":{{"initContainerStatuses":[{{"name":"c",{}}}]}}}})",
      status);
  const Result<LogRun> run = choose_log_run(parsed(arena, text), "c", previous);
  return run ? fmt::format("{} {}", run->number, run->container_id) : run.error().message;
}

TEST(ChooseLogRun, IsThePresentOneElseTheLast) {
  EXPECT_EQ(chosen(R"("restartCount":0,"containerID":"x://a","state":{"running":{}})"), "0 x://a");
  EXPECT_EQ(chosen(R"("restartCount":2,"state":{"terminated":{"containerID":"x://b"}})"),
            "2 x://b");
  EXPECT_EQ(chosen(R"("restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
                   R"("lastState":{"terminated":{"containerID":"x://b"}})"),
            "2 x://b");
}

TEST(ChooseLogRun, ThePreviousOneIsTheLastState) {
  EXPECT_EQ(chosen(R"("restartCount":2,"containerID":"x://c","state":{"running":{}},)"
                   R"("lastState":{"terminated":{"containerID":"x://b"}})",
                   true),
            "1 x://b");
  EXPECT_EQ(chosen(R"("restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
                   R"("lastState":{"terminated":{"containerID":"x://b"}})",
                   true),
            "2 x://b");
  EXPECT_EQ(chosen(R"("restartCount":0,"containerID":"x://a","state":{"running":{}})", true),
            R"(previous terminated container "c" in pod "p" not found)");
}

TEST(ChooseLogRun, AnEndWithoutAnIdIsNotOneOfARun) {
  EXPECT_EQ(chosen(R"("restartCount":0,"state":{"terminated":{"exitCode":137}})"),
            R"(container "c" in pod "p" is terminated)");
  EXPECT_EQ(chosen(R"("restartCount":1,"state":{"terminated":{"exitCode":137}},)"
                   R"("lastState":{"terminated":{"containerID":"x://b"}})"),
            "0 x://b");
  EXPECT_EQ(chosen(R"("restartCount":0,"state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
                   R"("lastState":{"terminated":{"exitCode":137}})"),
            R"(container "c" in pod "p" is terminated)");
}

TEST(ChooseLogRun, BeforeTheFirstRunTheReasonIsGiven) {
  const auto waiting = [](std::string_view reason) {
    return chosen(
        fmt::format(R"("restartCount":0,"state":{{"waiting":{{"reason":"{}"}}}})", reason));
  };
  const std::string where = R"(container "c" in pod "p" is waiting to start)";
  EXPECT_EQ(waiting("ContainerCreating"), where + ": ContainerCreating");
  EXPECT_EQ(waiting("ErrImagePull"), where + ": image can't be pulled");
  EXPECT_EQ(waiting("ImagePullBackOff"), where + ": trying and failing to pull image");
  EXPECT_EQ(waiting(""), where + " - no logs yet");
  json::Arena arena;
  EXPECT_EQ(
      choose_log_run(parsed(arena, R"({"metadata":{"name":"p"}})"), "c", false).error().message,
      R"(container "c" in pod "p" is not available)");
}

}  // namespace pod_containers_test
}  // namespace muster::server
