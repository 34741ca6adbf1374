#include "story/pod_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "story/timeline_text.h"

namespace muster::story {
namespace pod_facts_test {

using testing::HasSubstr;

PodFacts facts_of(std::string_view status, std::string_view name = "train-workers-1-3-x7k2p") {
  json::Arena arena;
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{}","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z",
      "annotations":{{"muster.dev/rank-offset":"4"}},
      "labels":{{"jobset.sigs.k8s.io/replicatedjob-name":"workers","jobset.sigs.k8s.io/job-index":"1",
      "batch.kubernetes.io/job-name":"train-workers-1","batch.kubernetes.io/job-completion-index":"3",
      "jobset.sigs.k8s.io/restart-attempt":"0"}}}},
      "spec":{{"containers":[{{"name":"main"}}]}},"status":{}}})",
      name, status);
  return pod_facts(*json::parse(arena, text));
}

TEST(PodFacts, TellWhoItIs) {
  const PodFacts facts = facts_of("{}");
  EXPECT_EQ(short_name(facts, "train"), "workers-1-3");
  EXPECT_EQ(facts.rank, "7");
  EXPECT_TRUE(is_meant(facts, "workers"));
  EXPECT_TRUE(is_meant(facts, "workers/1"));
  EXPECT_TRUE(is_meant(facts, "workers/1/3"));
  EXPECT_TRUE(is_meant(facts, "workers/train-workers-1/train-workers-1-3-x7k2p"));
  EXPECT_FALSE(is_meant(facts, "workers/0"));
  EXPECT_FALSE(is_meant(facts, "workers/1/4"));
  EXPECT_FALSE(is_meant(facts, "driver"));
}

TEST(PodFacts, HaveTheirIndexIfTheFirstRankIsNoNumber) {
  json::Arena arena;
  const auto pod =
      json::parse(arena, R"({"metadata":{"annotations":{"muster.dev/rank-offset":"many"},
      "labels":{"batch.kubernetes.io/job-completion-index":"3"}}})");
  EXPECT_EQ(pod_facts(*pod).rank, "3");
}

TEST(PodFacts, TellHowItEnded) {
  const PodFacts failed = facts_of(
      R"({"phase":"Failed","containerStatuses":[{"name":"main","containerID":"x://1","state":{"terminated":{
      "exitCode":3,"reason":"Error","startedAt":"2026-01-01T00:00:01Z","finishedAt":"2026-01-01T00:00:09Z"}}}]})");
  EXPECT_EQ(failed.failure->text(), "exit code 3");
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(*failed.finished - *failed.started, std::chrono::seconds(8));
  EXPECT_EQ(failed.logs.size(), 1u);
  const PodFacts missing = facts_of(
      R"({"phase":"Failed","containerStatuses":[{"name":"main","state":{"terminated":{
      "exitCode":128,"reason":"StartError","message":"no \u001b[2Jsuch program"}}}]})");
  EXPECT_EQ(missing.failure->text(), "could not start: no such program");
  EXPECT_TRUE(missing.logs.empty()) << "what never ran has no log";
  const PodFacts stopped_before_its_turn = facts_of(
      R"({"phase":"Failed","containerStatuses":[{"name":"main","state":{"terminated":{
      "exitCode":137,"reason":"ContainerStatusUnknown"}}}]})");
  EXPECT_TRUE(stopped_before_its_turn.logs.empty());
  const ContainerEnd barrier{
      .container = {}, .code = 1, .reason = "Error", .message = "2 of 3 pods had started\n"};
  EXPECT_EQ(barrier.text(), "exit code 1: 2 of 3 pods had started ");
  const ContainerEnd killed{.container = {}, .code = 137, .reason = "OOMKilled", .message = {}};
  EXPECT_EQ(killed.text(), "exit code 137, killed by signal 9 (OOMKilled)");
}

TEST(PodFacts, TellWhatKeepsItFromRunning) {
  EXPECT_EQ(facts_of(R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
    "reason":"Unschedulable","message":"0/1 nodes are available"}]})")
                .unschedulable,
            "0/1 nodes are available");
  EXPECT_EQ(facts_of(R"({"phase":"Pending","containerStatuses":[{"name":"main","restartCount":2,
    "state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 10s"}}}]})")
                .trouble,
            "CrashLoopBackOff: back-off 10s");
  EXPECT_EQ(
      facts_of(
          R"({"phase":"Running","containerStatuses":[{"name":"main","restartCount":1,"containerID":"x://1",
    "state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1}}}]})")
          .logs.size(),
      1u)
      << "between two runs there is the log of the last one";
  const PodFacts waits = facts_of(
      R"({"phase":"Pending","initContainerStatuses":[{"name":"group-scheduling-init",
      "state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}}}],
      "containerStatuses":[{"name":"main","state":{"waiting":{"reason":"PodInitializing"}}}]})");
  EXPECT_TRUE(waits.at_barrier);
  EXPECT_TRUE(waits.trouble.empty());
  EXPECT_TRUE(waits.logs.empty());
}

TEST(FirstFailure, IsTheOneThatCameFirst) {
  const auto failed = [](std::string_view name, std::string_view at) {
    return facts_of(
        fmt::format(R"({{"phase":"Failed","containerStatuses":[{{"name":"main","state":{{
      "terminated":{{"exitCode":1,"finishedAt":"{}"}}}}}}]}})",
                    at),
        name);
  };
  const std::vector<PodFacts> pods = {facts_of("{}"), failed("b", "2026-01-01T00:00:05Z"),
                                      failed("a", "2026-01-01T00:00:04Z")};
  ASSERT_NE(first_failure(pods), nullptr);
  EXPECT_EQ(first_failure(pods)->name, "a");
  EXPECT_EQ(first_failure({}), nullptr);
}

TEST(Timeline, HasABarPerPod) {
  const PodFacts ran = facts_of(
      R"({"phase":"Succeeded","containerStatuses":[{"name":"main","state":{"terminated":{
      "exitCode":0,"startedAt":"2026-01-01T00:00:05Z","finishedAt":"2026-01-01T00:00:10Z"}}}]})");
  const Time begin = *parse_time("2026-01-01T00:00:00Z");
  const std::chrono::seconds second(1);
  api::JobSet set;
  set.meta.name = "train";
  set.meta.creation_time = begin;
  set.replicated_jobs.push_back({.name = "workers", .group_name = {}});
  const Timeline timeline = timeline_of(set, {ran}, {}, begin + 60 * second);
  EXPECT_EQ(timeline.end - timeline.begin, std::chrono::seconds(10));
  EXPECT_EQ(print_timeline(timeline, "text", 64),
            "train   10s   . waits  # runs  ! failed\n"
            "train-workers-1-3-x7k2p |...........########## | succeeded 5s\n");
  PodFacts failed = ran;
  failed.phase = "Failed";
  EXPECT_EQ(print_timeline(timeline_of(set, {failed}, {}, begin + 60 * second), "text", 64),
            "train   10s   . waits  # runs  ! failed\n"
            "train-workers-1-3-x7k2p |...........#########! | failed 5s\n");
  EXPECT_THAT(print_timeline(timeline, "json", 0), HasSubstr("\"kind\": \"Timeline\""));
  EXPECT_THAT(print_timeline(timeline, "perfetto", 0), HasSubstr("\"dur\":5000000"));
  EXPECT_THAT(print_timeline(timeline, "svg", 0), HasSubstr("<rect x=\"600.0\""));
  // A pod that is gone is known by its events.
  const auto told = [&](int at, std::string_view reason, std::string_view object) {
    return EventRow{.at = begin + at * second,
                    .type = {},
                    .reason = std::string(reason),
                    .object = std::string(object),
                    .message = {}};
  };
  const Timeline both = timeline_of(
      set, {ran},
      {told(1, "Scheduled", "pod/train-workers-0-0-x"),
       told(2, "Started", "pod/train-workers-0-0-x"), told(3, "Killing", "pod/train-workers-0-0-x"),
       told(3, "Killing", "pod/train-2-workers-0-0-x"), told(3, "Killing", "job/train-workers-0")},
      begin + 60 * second);
  ASSERT_EQ(both.bars.size(), 2u);
  EXPECT_EQ(both.bars[1].state, "stopped");
  EXPECT_EQ(*both.bars[1].started - begin, 2 * second);
  EXPECT_EQ(both.bars[1].end - begin, 3 * second);
}

}  // namespace pod_facts_test
}  // namespace muster::story
