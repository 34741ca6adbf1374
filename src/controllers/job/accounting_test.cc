#include "controllers/job/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/job/testing.h"

namespace muster::controllers::job {
namespace accounting_test {

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

// "2 + [u-s] succeeded, 1 + [] failed; [s] go": what is counted, what is noted, whose finalizer
// goes.
std::string told(const Accounts& accounts) {
  return fmt::format("{} + [{}] succeeded, {} + [{}] failed; [{}] go", accounts.succeeded,
                     fmt::join(accounts.uncounted_succeeded, " "), accounts.failed,
                     fmt::join(accounts.uncounted_failed, " "),
                     fmt::join(names(accounts.let_go), " "));
}

struct Row {
  std::string_view name;
  Job job;
  std::vector<Pod> pods;
  std::string_view accounts;
  std::optional<Finish> finish = kGoesOn;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(told(account(row.job, count(row.job, pointers(row.pods)), row.finish)), row.accounts)
        << row.name;
  }
}

Job counted(int succeeded, int failed, std::string_view uncounted = "") {
  return job(R"("completions":9)", fmt::format(R"("succeeded":{},"failed":{},)"
                                               R"("uncountedTerminatedPods":{{{}}})",
                                               succeeded, failed, uncounted));
}

TEST(Accounting, EndedPodsAreNotedThenLetGoThenCounted) {
  constexpr std::string_view kBoth = R"("succeeded":["u-s"],"failed":["u-f"])";
  check({
      {"nothing new",
       counted(2, 1),
       {pod("a"), pod("b").phase("Running")},
       "2 + [] succeeded, 1 + [] failed; [] go"},
      {"both kinds of end",
       counted(2, 1),
       {pod("s").succeeded(), pod("f").failed(), pod("a")},
       "2 + [u-s] succeeded, 1 + [u-f] failed; [s f] go"},
      {"noted, but still tracked: again the finalizer, nothing more",
       counted(2, 1, kBoth),
       {pod("s").succeeded(), pod("f").failed()},
       "2 + [u-s] succeeded, 1 + [u-f] failed; [s f] go"},
      {"tracked no more",
       counted(2, 1, kBoth),
       {pod("s").succeeded().untracked(), pod("f").failed().untracked()},
       "3 + [] succeeded, 2 + [] failed; [] go"},
      {"gone altogether",
       counted(2, 1, R"("succeeded":["u-s","u-t"],"failed":["u-f"])"),
       {},
       "4 + [] succeeded, 2 + [] failed; [] go"},
      {"some before, some new",
       counted(2, 1, kBoth),
       {pod("s").succeeded().untracked(), pod("f").failed(), pod("t").succeeded()},
       "3 + [u-t] succeeded, 1 + [u-f] failed; [f t] go"},
      {"counted long ago",
       counted(2, 1),
       {pod("s").succeeded().untracked()},
       "2 + [] succeeded, 1 + [] failed; [] go"},
      {"one that goes has failed",
       counted(0, 0),
       {pod("a").phase("Running").deleted()},
       "0 + [] succeeded, 0 + [u-a] failed; [a] go"},
      {"noted as failed, it stays so",
       counted(0, 0, R"("failed":["u-a"])"),
       {pod("a").succeeded()},
       "0 + [] succeeded, 0 + [u-a] failed; [a] go"},
  });
}

TEST(Accounting, WhatBecomesOfTheRestWhenAJobEnds) {
  const std::vector<Pod> pods = {pod("s").succeeded(), pod("r").phase("Running")};
  check({
      {"goes on", counted(0, 0), pods, "0 + [u-s] succeeded, 0 + [] failed; [s] go"},
      {"fails: what still ran has failed", counted(0, 0), pods,
       "0 + [u-s] succeeded, 0 + [u-r] failed; [s r] go", kFails},
      {"succeeds: what still ran does not matter", counted(0, 0), pods,
       "0 + [u-s] succeeded, 0 + [] failed; [s r] go", kSucceeds},
  });
}

TEST(Accounting, ADeletedJobLetsAllItsPodsGo) {
  const Job deleted =
      job(R"("completions":9)", "", R"("deletionTimestamp":"2026-03-01T00:00:00Z")");
  check({{"running ones are not counted",
          deleted,
          {pod("r").phase("Running"), pod("s").succeeded(), pod("g").phase("Running").deleted()},
          "0 + [u-s] succeeded, 0 + [u-g] failed; [r s g] go"}});
}

TEST(Accounting, OnlyFailedPodsAreReplacedSoOnlyTheyCount) {
  for (const std::string_view spec : {R"("completions":9,"podReplacementPolicy":"Failed")",
                                      R"("completions":9,"podFailurePolicy":{"rules":[]})"}) {
    check({{"one that goes is not counted yet",
            job(spec),
            {pod("a").phase("Running").deleted()},
            "0 + [] succeeded, 0 + [] failed; [] go"}});
  }
}

TEST(Accounting, AnIgnoredFailureIsLetGoUncounted) {
  const Job j = job(R"("completions":9,"podFailurePolicy":{"rules":[{"action":"Ignore",)"
                    R"("onExitCodes":{"operator":"In","values":[4]}}]})");
  check({{"ignored",
          j,
          {pod("i").failed({}, 4), pod("f").failed({}, 5)},
          "0 + [] succeeded, 0 + [u-f] failed; [i f] go"}});
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

}  // namespace accounting_test
}  // namespace muster::controllers::job
