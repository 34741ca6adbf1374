#include "story/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "story/graph_text.h"
#include "story/job_set_table.h"
#include "story/progress.h"

namespace muster::story {
namespace stages_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// dataset, then a trainer of four pods; `status` is that of the JobSet.
api::JobSet set_with(std::string_view status, std::string_view more = "") {
  json::Arena arena;
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"train","creationTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{{}"failurePolicy":{{"maxRestarts":3}},
      "replicatedJobs":[{{"name":"dataset","replicas":1,"template":{{"spec":{{"parallelism":1,"completions":1}}}}}},
      {{"name":"trainer","replicas":1,"dependsOn":[{{"name":"dataset","status":"Complete"}}],
        "template":{{"spec":{{"parallelism":4,"completions":4}}}}}}]}},"status":{}}})",
      more, status);
  return api::read_job_set(*json::parse(arena, text));
}

constexpr std::string_view kWaiting =
    R"({"conditions":[{"type":"muster.dev/Waiting","status":"True",
  "message":"trainer waits for dataset to be Complete: 0 of 1"}],
  "replicatedJobsStatus":[{"name":"dataset","active":1,"ready":1},{"name":"trainer"}]})";

PodFacts pod(std::string name, std::string phase, bool ready) {
  PodFacts facts;
  facts.stage = "trainer";
  facts.name = std::move(name);
  facts.phase = std::move(phase);
  facts.ready = ready;
  facts.attempt = "0";
  return facts;
}

TEST(Standing, SaysWhereItIsAndWhatItWaitsFor) {
  const Standing standing = standing_of(set_with(kWaiting));
  EXPECT_EQ(standing.state, "Running");
  EXPECT_EQ(standing.current(), "dataset");
  EXPECT_EQ(standing.waiting, "trainer waits for dataset to be Complete: 0 of 1");
  EXPECT_EQ(standing.stages[1].state, StageState::kWaiting);
  EXPECT_EQ(standing.stages[1].waits_for, "dataset to be Complete");
  EXPECT_EQ(standing.stages[1].pods, 4);
}

TEST(Standing, InOrderEachWaitsForTheOneBefore) {
  json::Arena arena;
  const Standing standing = standing_of(api::read_job_set(*json::parse(arena, R"({"spec":{
      "startupPolicy":{"startupPolicyOrder":"InOrder"},
      "replicatedJobs":[{"name":"a"},{"name":"b"},{"name":"c"}]}})")));
  EXPECT_EQ(standing.stages[0].waits_for, "");
  EXPECT_EQ(standing.stages[2].waits_for, "b to be Ready");
}

TEST(Standing, FollowsThePodsOfThePresentAttempt) {
  const api::JobSet set = set_with(
      R"({"replicatedJobsStatus":[{"name":"dataset","succeeded":1},{"name":"trainer","active":1}]})");
  std::vector<PodFacts> pods = {pod("a", "Running", true), pod("b", "Running", true),
                                pod("c", "Pending", false)};
  Standing standing = standing_of(set, pods);
  EXPECT_EQ(standing.state, "Starting");
  EXPECT_EQ(standing.stages[0].state, StageState::kDone);
  EXPECT_EQ(standing.stages[1].pods_ready, 2);
  pods[0].attempt = "7";  // of another attempt
  EXPECT_EQ(standing_of(set, pods).stages[1].pods_ready, 1);
}

TEST(Standing, EndsInAWord) {
  EXPECT_EQ(standing_of(set_with(R"({"conditions":[{"type":"Completed","status":"True"}]})")).state,
            "Completed");
  const Standing failed =
      standing_of(set_with(R"({"conditions":[{"type":"Failed","status":"True","message":"no"}]})"));
  EXPECT_EQ(failed.state, "Failed");
  EXPECT_FALSE(failed.outcome->succeeded);
  EXPECT_EQ(failed.outcome->message, "no");
  EXPECT_EQ(standing_of(set_with("{}", R"("suspend":true,)")).state, "Suspended");
  EXPECT_EQ(standing_of(set_with("{}")).state, "Pending");
}

TEST(Stuck, IsASetOfWhichNothingRunsAndSomethingCannot) {
  PodFacts running = pod("a", "Running", true);
  PodFacts unplaced = pod("b", "Pending", false);
  unplaced.unschedulable = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
  PodFacts barrier = pod("c", "Pending", false);
  barrier.at_barrier = true;
  EXPECT_FALSE(dead_end({running, unplaced})) << "what runs may make room";
  EXPECT_FALSE(dead_end({pod("d", "Succeeded", false), barrier}));
  EXPECT_EQ(dead_end({barrier, unplaced})->why,
            "pod b cannot be placed: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
}

TEST(Stuck, IsASetOfWhichAPodIsKeptFromStarting) {
  const PodFacts running = pod("a", "Running", true);
  PodFacts kept = pod("b", "Pending", false);
  kept.trouble = "CreateContainerConfigError: secret \"s\" not found";
  kept.trouble_reason = "CreateContainerConfigError";
  EXPECT_EQ(dead_end({running, kept})->why,
            "pod b cannot start: CreateContainerConfigError: secret \"s\" not found");
  PodFacts may_pass = kept;
  may_pass.trouble_reason = "CreateContainerError";
  EXPECT_GT(dead_end({may_pass})->grace, dead_end({kept})->grace);
  kept.trouble_reason = "CrashLoopBackOff";  // it did start
  EXPECT_FALSE(dead_end({running, kept}));
  kept.trouble_reason = "CreateContainerConfigError";
  kept.phase = "Failed";
  EXPECT_FALSE(dead_end({running, kept}));
}

TEST(JobSetTable, HasOurColumns) {
  json::Arena arena;
  const auto set = json::parse(arena, R"({"metadata":{"name":"a",
    "creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicatedJobs":[{"name":"w","replicas":2,
    "template":{"spec":{}}}]},"status":{"restarts":1,
    "replicatedJobsStatus":[{"name":"w","ready":1,"active":2}]}})");
  EXPECT_THAT(job_set_cells(*set, *parse_time("2026-01-01T00:01:30Z"), true),
              ElementsAre("a", "Restarting", "w", "1/2", "1", "90s", "<none>"));
}

TEST(Progress, IsABlockThatFitsTheTerminal) {
  const Standing standing = standing_of(set_with(kWaiting));
  const BlockView view{.now = *parse_time("2026-01-01T00:01:52Z"),
                       .begun = *parse_time("2026-01-01T00:00:00Z"),
                       .width = 60,
                       .trouble = {},
                       .keys = "Ctrl-C: stop, twice: kill"};
  EXPECT_THAT(progress_block(standing, view),
              ElementsAre("[>>] dataset ---------- 0/1 running",
                          "[..] trainer ---------- 0/4 waits for dataset to be Complete",
                          "trainer waits for dataset to be Complete: 0 of 1",
                          "restarts 0/3   elapsed 112s   Ctrl-C: stop, twice: kill"));
  BlockView narrow = view;
  narrow.width = 20;
  for (const std::string& line : progress_block(standing, narrow)) EXPECT_LE(line.size(), 20u);
}

TEST(Progress, HidesStagesThatAreDoneBeforeThoseThatRun) {
  Standing standing;
  for (int i = 0; i < 30; ++i)
    standing.stages.push_back({.name = fmt::format("s{}", i),
                               .state = i == 29 ? StageState::kRunning : StageState::kDone,
                               .waits_for = {},
                               .started = {},
                               .finished = {},
                               .never_because = {}});
  const auto lines = progress_block(standing, {.trouble = {}, .keys = {}});
  EXPECT_EQ(lines.size(), kMaxStageLines + 2);
  EXPECT_THAT(lines[kMaxStageLines - 1], HasSubstr("s29"));
  EXPECT_THAT(lines[kMaxStageLines], HasSubstr("22 more stages"));
}

TEST(Changes, AreToldOncePerStage) {
  const Standing before = standing_of(set_with(kWaiting));
  EXPECT_THAT(changes(Standing{}, before),
              ElementsAre("dataset: running, 0 of 1 pods ready",
                          "trainer: waits for dataset to be Complete"));
  EXPECT_THAT(changes(before, before), IsEmpty());
  const Standing after = standing_of(set_with(
      R"({"restarts":1,"replicatedJobsStatus":[{"name":"dataset","succeeded":1},{"name":"trainer","active":1}]})"));
  EXPECT_THAT(changes(before, after), ElementsAre("dataset: done", "trainer: starting 4 pods"));
}

TEST(Changes, ARestartIsToldWithItsCause) {
  EXPECT_EQ(restart_line(1, 2, "w-0-0 failed: exit code 1"),
            "w-0-0 failed: exit code 1; restart 1 of 2");
  EXPECT_EQ(restart_line(3, std::nullopt, ""), "restart 3");
  const Standing before = standing_of(set_with(kWaiting));
  const Standing after = standing_of(
      set_with(R"({"restarts":1,"replicatedJobsStatus":[{"name":"dataset","failed":1}]})"));
  EXPECT_THAT(changes(before, after), IsEmpty()) << "the failure is that of the attempt before";
}

TEST(Changes, WhatHasFinishedIsNotReady) {
  const api::JobSet set = set_with(
      R"({"replicatedJobsStatus":[{"name":"dataset","succeeded":1},{"name":"trainer","active":1,"ready":1}]})");
  const auto told = [&](const std::vector<PodFacts>& pods) {
    return changes(Standing{}, standing_of(set, pods));
  };
  const PodFacts done = pod("a", "Succeeded", false), ready = pod("b", "Running", true);
  EXPECT_THAT(told({done, ready, ready, ready}),
              ElementsAre("dataset: done", "trainer: running, 3 of 4 pods ready, 1 finished"));
  EXPECT_THAT(told({done, done, done, done}), ElementsAre("dataset: done"))
      << "none of them was ready, and the end is still to come";
  EXPECT_THAT(told({pod("a", "Failed", false)}),
              ElementsAre("dataset: done", "trainer: starting 4 pods"))
      << "its Job has not heard of it";
  const auto block = progress_block(standing_of(set, {done, ready, ready, ready}),
                                    {.width = 80, .trouble = {}, .keys = {}});
  EXPECT_EQ(block[1], "[>>] trainer ########## 4/4 running, 1 finished");
}

TEST(Changes, AStageThatNeverStartedWasNotStopped) {
  Standing standing =
      standing_of(set_with(R"({"conditions":[{"type":"Failed","status":"True","message":"no"}],
        "replicatedJobsStatus":[{"name":"dataset","failed":1},{"name":"trainer"}]})"));
  Standing seen = standing;
  mark_unstarted(seen, {"dataset", "trainer"});
  EXPECT_THAT(changes(Standing{}, seen), ElementsAre("dataset: failed", "trainer: stopped"));
  mark_unstarted(standing, {"dataset"});
  EXPECT_THAT(changes(Standing{}, standing),
              ElementsAre("dataset: failed", "trainer: never started (dataset failed)"));
}

TEST(Progress, SaysThatItIsStopping) {
  const auto lines = progress_block(standing_of(set_with(kWaiting)),
                                    {.trouble = {}, .keys = "stopping", .stopping = true});
  EXPECT_EQ(lines[0], "[>>] dataset ---------- 0/1 stopping");
}

TEST(Graph, DrawsWhoWaitsForWhom) {
  const api::JobSet set = set_with(kWaiting);
  EXPECT_EQ(graph(set, "text"),
            "train (Running)\n"
            "* dataset [1 pod] running\n"
            "   `> trainer [4 pods] waiting   when dataset is Complete\n");
  EXPECT_EQ(graph(set, "mermaid"),
            "flowchart LR\n  n0[\"dataset (1 pod)\"]\n  n1[\"trainer (4 pods)\"]\n"
            "  n0 -->|Complete| n1\n");
  EXPECT_THAT(graph(set, "dot"), HasSubstr("\"dataset\" -> \"trainer\" [label=\"Complete\"];"));
  const api::JobSet ordered =
      set_with("{}", R"("startupPolicy":{"startupPolicyOrder":"InOrder"},)");
  EXPECT_EQ(edges_of(ordered).back().when, "Ready");
}

}  // namespace stages_test
}  // namespace muster::story
