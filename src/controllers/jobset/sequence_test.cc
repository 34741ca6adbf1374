#include "controllers/jobset/sequence.h"

#include <gmock/gmock.h>

#include "controllers/jobset/testing.h"

namespace muster::controllers::jobset {
namespace sequence_test {

std::string on(std::string_view target, std::string_view status) {
  return fmt::format(R"({{"name": "{}", "status": "{}"}})", target, status);
}
std::string depends(std::string_view list) { return fmt::format(R"("dependsOn": [{}])", list); }

struct Numbers {
  int ready = 0, succeeded = 0, failed = 0, present = 0;
};

class Sequence : public ::testing::Test {
 public:
  // a has 1 Job, b has 2; c depends on what is said.
  void depend(std::string_view list) {
    set_ = read(jobset({job("a"), job("b", {.replicas = 2}), job("c", {.more = depends(list)})}));
    tallies_ = tally(set_, {}, {});
  }
  Sequence& with(std::size_t entry, Numbers numbers) {
    Tally& tally = tallies_[entry];
    tally.status.ready = numbers.ready;
    tally.status.succeeded = numbers.succeeded;
    tally.status.failed = numbers.failed;
    tally.present = std::max(numbers.present, tally.started_jobs());
    return *this;
  }
  bool c_may_start() const { return dependencies_reached(set_.replicated_jobs[2], tallies_); }
  std::string waits() const {
    const auto condition = waiting(set_, tallies_);
    return condition ? condition->reason + ": " + condition->message : "";
  }

  api::JobSet set_;
  Tallies tallies_;
};

TEST_F(Sequence, WithoutDependencyAJobMayStart) {
  depend("");
  EXPECT_TRUE(c_may_start());
  EXPECT_FALSE(is_sequenced(set_));
  EXPECT_EQ(waits(), "");
}

TEST_F(Sequence, WhatIsUnknownIsNotReached) {
  depend(on("a", "Ready"));
  EXPECT_FALSE(dependencies_reached(set_.replicated_jobs[2], {})) << "there are no numbers";
  depend(on("nobody", "Ready"));
  EXPECT_FALSE(c_may_start());
}

TEST_F(Sequence, CompleteMeansThatAllSucceeded) {
  depend(on("b", "Complete"));
  EXPECT_FALSE(c_may_start());
  EXPECT_FALSE(with(1, {.ready = 2}).c_may_start());
  EXPECT_FALSE(with(1, {.succeeded = 1, .failed = 1}).c_may_start());
  EXPECT_TRUE(with(1, {.succeeded = 2}).c_may_start());
}

TEST_F(Sequence, ReadyMeansThatAllHaveStarted) {
  depend(on("b", "Ready"));
  EXPECT_FALSE(c_may_start());
  EXPECT_FALSE(with(1, {.ready = 1}).c_may_start());
  EXPECT_TRUE(with(1, {.ready = 2}).c_may_start());
  EXPECT_TRUE(with(1, {.ready = 1, .succeeded = 1}).c_may_start());
  EXPECT_TRUE(with(1, {.ready = 1, .failed = 1}).c_may_start());
}

TEST_F(Sequence, AllDependenciesMustBeReached) {
  depend(on("a", "Complete") + "," + on("b", "Complete"));
  EXPECT_FALSE(c_may_start());
  EXPECT_FALSE(with(0, {.succeeded = 1}).c_may_start());
  EXPECT_TRUE(with(0, {.succeeded = 1}).with(1, {.succeeded = 2}).c_may_start());
  depend(on("a", "Ready") + "," + on("b", "Ready"));
  EXPECT_FALSE(with(1, {.ready = 2}).c_may_start());
  EXPECT_TRUE(with(0, {.ready = 1}).with(1, {.ready = 2}).c_may_start());
  depend(on("a", "Ready") + "," + on("b", "Complete"));
  EXPECT_FALSE(with(0, {.ready = 1}).with(1, {.ready = 2}).c_may_start());
  EXPECT_TRUE(with(0, {.ready = 1}).with(1, {.succeeded = 2}).c_may_start());
}

TEST_F(Sequence, WithoutReplicasThereIsNothingToWaitFor) {
  set_ = read(jobset({job("a", {.replicas = 0}), job("b", {.replicas = 0}),
                      job("c", {.more = depends(on("a", "Ready") + "," + on("b", "Complete"))})}));
  tallies_ = tally(set_, {}, {});
  EXPECT_TRUE(c_may_start());
}

TEST_F(Sequence, WaitingSaysForWhomAndHowFarTheyAre) {
  depend(on("a", "Ready"));
  EXPECT_EQ(waits(), "Dependency: c waits for a to be Ready: 0 of 1");
  EXPECT_EQ(with(0, {.ready = 1}).waits(), "");
  depend(on("a", "Ready") + "," + on("b", "Complete"));
  EXPECT_EQ(with(1, {.ready = 1, .succeeded = 1}).waits(),
            "Dependency: c waits for a to be Ready: 0 of 1 and for b to be Complete: 1 of 2");
}

TEST_F(Sequence, WhatRunsDoesNotWait) {
  depend(on("a", "Ready"));
  EXPECT_EQ(with(2, {.present = 1}).waits(), "") << "a has lost its readiness, too late";
  tallies_[2].status.suspended = 1;
  EXPECT_EQ(waits(), "Dependency: c waits for a to be Ready: 0 of 1") << "it stands still";
}

TEST_F(Sequence, ASuspendedSetWaitsForItsOwner) {
  depend(on("a", "Ready"));
  set_.suspend = true;
  EXPECT_EQ(waits(), "");
}

TEST_F(Sequence, InOrderAllWaitForTheFirstThatHasNotStarted) {
  set_ = read(jobset({job("a"), job("b", {.replicas = 2}), job("c")},
                     R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"));
  tallies_ = tally(set_, {}, {});
  EXPECT_EQ(waits(),
            "StartupOrder: b waits for a to be Ready: 0 of 1; c waits for a to be Ready: 0 of 1");
  EXPECT_EQ(with(0, {.ready = 1}).with(1, {.ready = 1}).waits(),
            "StartupOrder: c waits for b to be Ready: 1 of 2");
  EXPECT_EQ(with(1, {.ready = 2}).waits(), "");
}

TEST_F(Sequence, ALongListOfWaitingEndsInANumber) {
  std::vector<std::string> jobs = {job("first")};
  for (int i = 0; i < 10; ++i) jobs.push_back(job(fmt::format("w{}", i)));
  set_ = read(jobset(jobs, R"("startupPolicy": {"startupPolicyOrder": "InOrder"},)"));
  tallies_ = tally(set_, {}, {});
  EXPECT_THAT(waits(), ::testing::EndsWith("w7 waits for first to be Ready: 0 of 1; 2 more wait"));
}

TEST_F(Sequence, TheStartOfAStageNamesWhatItWaitedFor) {
  depend(on("a", "Ready") + "," + on("b", "Complete"));
  EXPECT_EQ(stage_started(set_.replicated_jobs[2]), "started c: 1 job, a is Ready, b is Complete");
  EXPECT_EQ(stage_started(set_.replicated_jobs[1]), "started b: 2 jobs");
}

}  // namespace sequence_test
}  // namespace muster::controllers::jobset
