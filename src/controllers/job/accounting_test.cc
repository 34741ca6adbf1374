#include "controllers/job/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job;
using testing::names;
using testing::pod;
using testing::PodText;
using testing::pointers;
using ::testing::SizeIs;

const std::optional<Finish> kGoesOn = std::nullopt;
const std::optional<Finish> kFails = Finish{.success = false};
const std::optional<Finish> kSucceeds = Finish{.success = true};

struct Row {
  std::string_view name;
  Job job;
  std::vector<Pod> pods;
  std::optional<Finish> finish;
  std::int64_t succeeded, failed;
  std::vector<std::string> uncounted_succeeded, uncounted_failed;
  std::vector<std::string> let_go;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Accounts accounts = account(row.job, count(row.job, pointers(row.pods)), row.finish);
    EXPECT_EQ(accounts.succeeded, row.succeeded) << row.name;
    EXPECT_EQ(accounts.failed, row.failed) << row.name;
    EXPECT_EQ(accounts.uncounted_succeeded, row.uncounted_succeeded) << row.name;
    EXPECT_EQ(accounts.uncounted_failed, row.uncounted_failed) << row.name;
    EXPECT_EQ(names(accounts.let_go), row.let_go) << row.name;
  }
}

Job counted(int succeeded, int failed, std::string_view uncounted = "") {
  return job(R"("completions":9)", fmt::format(R"("succeeded":{},"failed":{},)"
                                               R"("uncountedTerminatedPods":{{{}}})",
                                               succeeded, failed, uncounted));
}

TEST(Accounting, EndedPodsAreNotedThenLetGoThenCounted) {
  check({
      {"nothing new",
       counted(2, 1),
       {pod("a"), pod("b").phase("Running")},
       kGoesOn,
       2,
       1,
       {},
       {},
       {}},
      {"both kinds of end",
       counted(2, 1),
       {pod("s").succeeded(), pod("f").failed(), pod("a")},
       kGoesOn,
       2,
       1,
       {"u-s"},
       {"u-f"},
       {"s", "f"}},
      {"noted, but still tracked: again the finalizer, nothing more",
       counted(2, 1, R"("succeeded":["u-s"],"failed":["u-f"])"),
       {pod("s").succeeded(), pod("f").failed()},
       kGoesOn,
       2,
       1,
       {"u-s"},
       {"u-f"},
       {"s", "f"}},
      {"tracked no more",
       counted(2, 1, R"("succeeded":["u-s"],"failed":["u-f"])"),
       {pod("s").succeeded().untracked(), pod("f").failed().untracked()},
       kGoesOn,
       3,
       2,
       {},
       {},
       {}},
      {"gone altogether",
       counted(2, 1, R"("succeeded":["u-s","u-t"],"failed":["u-f"])"),
       {},
       kGoesOn,
       4,
       2,
       {},
       {},
       {}},
      {"some before, some new",
       counted(2, 1, R"("succeeded":["u-s"],"failed":["u-f"])"),
       {pod("s").succeeded().untracked(), pod("f").failed(), pod("t").succeeded()},
       kGoesOn,
       3,
       1,
       {"u-t"},
       {"u-f"},
       {"f", "t"}},
      {"counted long ago",
       counted(2, 1),
       {pod("s").succeeded().untracked()},
       kGoesOn,
       2,
       1,
       {},
       {},
       {}},
      {"one that goes has failed",
       counted(0, 0),
       {pod("a").phase("Running").deleted()},
       kGoesOn,
       0,
       0,
       {},
       {"u-a"},
       {"a"}},
      {"noted as failed, it stays so",
       counted(0, 0, R"("failed":["u-a"])"),
       {pod("a").succeeded()},
       kGoesOn,
       0,
       0,
       {},
       {"u-a"},
       {"a"}},
  });
}

TEST(Accounting, WhatBecomesOfTheRestWhenAJobEnds) {
  const std::vector<Pod> pods = {pod("s").succeeded(), pod("r").phase("Running")};
  check({
      {"goes on", counted(0, 0), pods, kGoesOn, 0, 0, {"u-s"}, {}, {"s"}},
      {"fails: what still ran has failed",
       counted(0, 0),
       pods,
       kFails,
       0,
       0,
       {"u-s"},
       {"u-r"},
       {"s", "r"}},
      {"succeeds: what still ran does not matter",
       counted(0, 0),
       pods,
       kSucceeds,
       0,
       0,
       {"u-s"},
       {},
       {"s", "r"}},
  });
}

TEST(Accounting, ADeletedJobLetsAllItsPodsGo) {
  const Job deleted =
      job(R"("completions":9)", "", R"("deletionTimestamp":"2026-03-01T00:00:00Z")");
  check({
      {"running ones are not counted",
       deleted,
       {pod("r").phase("Running"), pod("s").succeeded(), pod("g").phase("Running").deleted()},
       kGoesOn,
       0,
       0,
       {"u-s"},
       {"u-g"},
       {"r", "s", "g"}},
  });
}

TEST(Accounting, OnlyFailedPodsAreReplacedSoOnlyTheyCount) {
  for (const std::string_view spec : {R"("completions":9,"podReplacementPolicy":"Failed")",
                                      R"("completions":9,"podFailurePolicy":{"rules":[]})"}) {
    check({{"one that goes is not counted yet",
            job(spec),
            {pod("a").phase("Running").deleted()},
            kGoesOn,
            0,
            0,
            {},
            {},
            {}}});
  }
}

TEST(Accounting, AnIgnoredFailureIsLetGoUncounted) {
  const Job j = job(R"("completions":9,"podFailurePolicy":{"rules":[{"action":"Ignore",)"
                    R"("onExitCodes":{"operator":"In","values":[4]}}]})");
  check({{"ignored",
          j,
          {pod("i").failed({}, 4), pod("f").failed({}, 5)},
          kGoesOn,
          0,
          0,
          {},
          {"u-f"},
          {"i", "f"}}});
  const std::vector<Pod> pods = {pod("i").failed({}, 4)};
  EXPECT_EQ(account(j, count(j, pointers(pods)), kGoesOn).judged.at(FailureAction::kIgnore), 1);
}

Job indexed(std::string_view status, int completions = 5, std::string_view more = "") {
  return job(fmt::format(R"("completionMode":"Indexed","completions":{}{})", completions, more),
             status);
}

TEST(Accounting, IndexesAreCountedByThemselves) {
  struct IndexRow {
    std::string_view name;
    Job job;
    std::vector<Pod> pods;
    std::string_view completed;
    std::vector<std::string> uncounted_failed, let_go;
  };
  const std::vector<IndexRow> rows = {
      {"new ones",
       indexed(R"("completedIndexes":"1")"),
       {pod(0).succeeded(), pod(3).succeeded()},
       "0,1,3",
       {},
       {"j-0", "j-3"}},
      {"one that is done already",
       indexed(R"("completedIndexes":"1")"),
       {pod(1).succeeded()},
       "1",
       {},
       {"j-1"}},
      {"the same index twice",
       indexed(""),
       {pod(1).succeeded(), pod("b").index(1).succeeded()},
       "1",
       {},
       {"j-1", "b"}},
      {"without or with a wrong index: let go, not counted",
       indexed(""),
       {pod("none").succeeded(), pod(9).succeeded(), pod("bad").failed(), pod(8).failed()},
       "",
       {},
       {"none", "bad", "j-8", "j-9"}},
      {"failures go by UID",
       indexed(""),
       {pod(0).failed(), pod("b").index(0).failed()},
       "",
       {"u-j-0", "u-b"},
       {"j-0", "b"}},
      {"fewer completions than before",
       indexed(R"("completedIndexes":"0-8","succeeded":9)", 3),
       {},
       "0-2",
       {},
       {}},
  };
  for (const IndexRow& row : rows) {
    const Accounts accounts = account(row.job, count(row.job, pointers(row.pods)), kGoesOn);
    EXPECT_EQ(accounts.completed.text(), row.completed) << row.name;
    EXPECT_EQ(accounts.uncounted_failed, row.uncounted_failed) << row.name;
    EXPECT_EQ(names(accounts.let_go), row.let_go) << row.name;
    EXPECT_THAT(accounts.uncounted_succeeded, IsEmpty()) << row.name;
  }
}

TEST(Accounting, AFailedPodIsHeldBackUntilItsIndexIsTriedAgain) {
  const Job j = indexed("", 3, R"(,"backoffLimitPerIndex":1)");
  const auto let_go = [&](const std::vector<Pod>& pods, const std::optional<Finish>& finish) {
    return names(account(j, count(j, pointers(pods)), finish).let_go);
  };
  EXPECT_THAT(let_go({pod(0).failed()}, kGoesOn), IsEmpty());
  EXPECT_THAT(let_go({pod(0).failed(), pod("next").index(0)}, kGoesOn), ElementsAre("j-0"));
  EXPECT_THAT(let_go({pod(0).failed().annotation(kIndexFailureCount, "1")}, kGoesOn),
              ElementsAre("j-0"))
      << "the index has failed";
  EXPECT_THAT(let_go({pod(0).failed()}, kFails), ElementsAre("j-0")) << "the Job ends";
}

TEST(Accounting, ALimitPerPass) {
  for (const bool by_index : {false, true}) {
    std::vector<Pod> pods;
    for (int i = 0; i < 700; ++i) pods.push_back(pod(i).succeeded());
    const Job j = by_index ? indexed("", 1'000) : job(R"("completions":1000)");
    const Accounts accounts = account(j, count(j, pointers(pods)), kGoesOn);
    EXPECT_TRUE(accounts.full);
    EXPECT_THAT(accounts.let_go, SizeIs(500));
    if (by_index) {
      EXPECT_EQ(accounts.completed.text(), "0-499");
    } else {
      EXPECT_THAT(accounts.uncounted_succeeded, SizeIs(500));
    }
  }
}

}  // namespace
}  // namespace muster::controllers::job
