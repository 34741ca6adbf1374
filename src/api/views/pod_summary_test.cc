#include "api/views/pod_summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/testing.h"

namespace muster::api {
namespace pod_summary_test {

// "ready/total status restarts" of a pod.
std::string summary(std::string_view spec, std::string_view status,
                    std::string_view metadata = "{}") {
  const json::Tree pod(
      fmt::format(R"({{"metadata":{},"spec":{},"status":{}}})", metadata, spec, status));
  const PodSummary summary = summarize_pod(pod);
  return fmt::format("{}/{} {} {}", summary.ready, summary.total, summary.status, summary.restarts);
}

constexpr const char* kTwo = R"({"containers":[{"name":"a"},{"name":"b"}]})";

TEST(PodSummary, ThePhaseUnlessThereIsAReason) {
  EXPECT_EQ(summary(kTwo, R"({"phase":"Pending"})"), "0/2 Pending 0");
  EXPECT_EQ(summary(kTwo, R"({"phase":"Failed","reason":"Evicted"})"), "0/2 Evicted 0");
  EXPECT_EQ(
      summary(
          kTwo,
          R"({"phase":"Pending","conditions":[{"type":"PodScheduled","reason":"SchedulingGated"}]})"),
      "0/2 SchedulingGated 0");
}

TEST(PodSummary, TheFirstContainerWins) {
  EXPECT_EQ(summary(kTwo, R"({"phase":"Running","containerStatuses":[
                {"name":"a","restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
                {"name":"b","restartCount":1,"ready":true,"state":{"running":{}}}]})"),
            "1/2 CrashLoopBackOff 3");
  EXPECT_EQ(summary(kTwo, R"({"phase":"Failed","containerStatuses":[
                {"name":"a","state":{"terminated":{"exitCode":1,"reason":"Error"}}},
                {"name":"b","state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]})"),
            "0/2 Error 0");
}

TEST(PodSummary, AnEndWithoutReasonShowsSignalOrCode) {
  const auto ended = [](const char* how) {
    return summary(
        R"({"containers":[{"name":"a"}]})",
        fmt::format(R"({{"phase":"Failed","containerStatuses":[{{"state":{{"terminated":{}}}}}]}})",
                    how));
  };
  EXPECT_EQ(ended(R"({"exitCode":137,"signal":9})"), "0/1 Signal:9 0");
  EXPECT_EQ(ended(R"({"exitCode":3})"), "0/1 ExitCode:3 0");
}

TEST(PodSummary, CompletedWithOthersStillRunning) {
  const auto with = [](const char* second, const char* conditions) {
    return summary(kTwo, fmt::format(R"({{"phase":"Running","conditions":{},"containerStatuses":[
        {{"name":"a","state":{{"terminated":{{"exitCode":0,"reason":"Completed"}}}}}},{}]}})",
                                     conditions, second));
  };
  constexpr const char* kRunning = R"({"name":"b","ready":true,"state":{"running":{}}})";
  constexpr const char* kFailed =
      R"({"name":"b","state":{"terminated":{"exitCode":2,"reason":"Error"}}})";
  constexpr const char* kDone =
      R"({"name":"b","state":{"terminated":{"exitCode":0,"reason":"Completed"}}})";
  EXPECT_EQ(with(kRunning, R"([{"type":"Ready","status":"True"}])"), "1/2 Running 0");
  EXPECT_EQ(with(kRunning, "[]"), "1/2 NotReady 0");
  EXPECT_EQ(with(kFailed, "[]"), "0/2 Error 0");
  EXPECT_EQ(with(kDone, "[]"), "0/2 Completed 0");
}

TEST(PodSummary, InitContainersInOrder) {
  const auto init = [](const char* statuses) {
    return summary(R"({"containers":[{"name":"a"}],"initContainers":[{"name":"i"},{"name":"j"}]})",
                   fmt::format(R"({{"phase":"Pending","initContainerStatuses":{}}})", statuses));
  };
  EXPECT_EQ(init(R"([{"name":"i","state":{"running":{}}},{"name":"j"}])"), "0/1 Init:0/2 0");
  EXPECT_EQ(
      init(
          R"([{"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","state":{"waiting":{"reason":"PodInitializing"}}}])"),
      "0/1 Init:1/2 0");
  EXPECT_EQ(
      init(R"([{"name":"i","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}])"),
      "0/1 Init:CrashLoopBackOff 4");
  EXPECT_EQ(init(R"([{"name":"i","state":{"terminated":{"exitCode":1,"reason":"Error"}}}])"),
            "0/1 Init:Error 0");
  EXPECT_EQ(init(R"([{"name":"i","state":{"terminated":{"exitCode":7}}}])"),
            "0/1 Init:ExitCode:7 0");
  EXPECT_EQ(init(R"([{"name":"i","state":{"terminated":{"exitCode":7,"signal":9}}}])"),
            "0/1 Init:Signal:9 0");
}

TEST(PodSummary, SidecarsCountAsContainers) {
  constexpr const char* kSpec =
      R"({"containers":[{"name":"a"}],"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}]})";
  EXPECT_EQ(summary(kSpec, R"({"phase":"Running","initContainerStatuses":[
                {"name":"i","restartCount":5,"state":{"terminated":{"exitCode":0}}},
                {"name":"s","restartCount":2,"started":true,"ready":true,"state":{"running":{}}}],
                "containerStatuses":[{"name":"a","restartCount":1,"ready":true,"state":{"running":{}}}]})"),
            "2/2 Running 3")
      << "restarts of finished init containers no longer count";
}

TEST(PodSummary, DeletedPods) {
  constexpr const char* kDeleted = R"({"deletionTimestamp":"2026-01-01T00:00:00Z"})";
  EXPECT_EQ(summary(kTwo, R"({"phase":"Running"})", kDeleted), "0/2 Terminating 0");
  EXPECT_EQ(summary(kTwo, R"({"phase":"Running","reason":"NodeLost"})", kDeleted), "0/2 Unknown 0");
  EXPECT_EQ(summary(kTwo, R"({"phase":"Succeeded"})", kDeleted), "0/2 Succeeded 0");
}

TEST(PodSummary, TheLatestRestart) {
  const json::Tree pod(R"({"status":{"containerStatuses":[
      {"restartCount":1,"lastState":{"terminated":{"finishedAt":"2026-01-01T00:02:00Z"}}},
      {"restartCount":1,"lastState":{"terminated":{"finishedAt":"2026-01-01T00:01:00Z"}}}]}})");
  EXPECT_EQ(summarize_pod(pod).last_restart, parse_time("2026-01-01T00:02:00Z"));
}

}  // namespace pod_summary_test
}  // namespace muster::api
