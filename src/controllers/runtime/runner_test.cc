#include "controllers/runtime/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"
#include "controllers/runtime/writes.h"
#include "json/testing.h"

namespace muster::controllers {
namespace runner_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kPods = "/api/v1/pods";
const std::string kMaps = "/api/v1/configmaps";

class TellTale final : public EventRecorder {
 public:
  void record(const Event& event) override { told.push_back(event.reason + ": " + event.message); }
  std::vector<std::string> told;
};

// The controller under test looks at pods and configmaps; each of its plans is what the test put
// into `next`, once; after that there is nothing to do.
class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    pods_.on_change([this](const auto&, const auto&) {
      if (wake_on_pods_) wake();
    });
    pods_.start();
    maps_.start();
  }

  void complete() {
    server_.settle();
    server_.show_complete(kPods, 1);
    server_.show_complete(kMaps, 1);
  }
  Plan plan(const QueueKey& key, const Pass& pass) {
    passes_.push_back(fmt::format("{}/{} failures={}", key.ns, key.name, pass.failures));
    return std::exchange(next_, {});
  }
  Write make(const std::string& name) const {
    const json::Tree pod(fmt::format(R"({{"metadata":{{"namespace":"d","name":"{}"}}}})", name));
    return {.operation = create(pods_.resource(), pod)};
  }
  Write kill(const std::string& name) const {
    return {.operation = remove(pods_.resource(), {.ns = "d", .name = name, .uid = "u-" + name},
                                Propagation::kBackground)};
  }
  static Event event(std::string reason, std::string message) {
    return {.regarding = {}, .reason = std::move(reason), .message = std::move(message)};
  }
  void wake() { runner_.add({"d", "k"}); }
  void counts_after(Duration span) {  // what the next plan is, which may wait
    next_ = {};
    next_.then(make("counts"));
    next_.may_wait = milliseconds(100);
    server_.pass_time(span);
  }
  void put_off_behind_a_write() {
    complete();
    next_.then(make("urgent"));
    runner_.add({"d", "other"});
    EXPECT_EQ(passes(), 1u);
    wake();
    counts_after(milliseconds(0));
  }
  std::size_t passes() {
    server_.settle();
    return passes_.size();
  }

  testing::FakeServer server_;
  const api::Registry& registry_ = api::Registry::builtin();
  client::Informer pods_{server_.client, *registry_.find("", "v1", "pods")};
  client::Informer maps_{server_.client, *registry_.find("", "v1", "configmaps")};
  TellTale events_;
  DecisionLog log_;
  Plan next_;
  bool wake_on_pods_ = true;
  std::vector<std::string> passes_;
  std::vector<std::string> carried_out_;
  Runner runner_{server_.client,
                 {.name = "test",
                  .sources = {&pods_, &maps_},
                  .plan = [this](const QueueKey& key, const Pass& pass) { return plan(key, pass); },
                  .carried_out = [this](const QueueKey& key,
                                        const Plan&) { carried_out_.push_back(key.name); },
                  .events = &events_,
                  .log = &log_}};
};

TEST_F(RunnerTest, ACostlyPlanIsNotMadeAgainAtOnce) {
  EXPECT_EQ(Runner::rest_after(milliseconds(0), 49), milliseconds(0));
  EXPECT_EQ(Runner::rest_after(std::chrono::microseconds(100), 49), milliseconds(0));
  EXPECT_EQ(Runner::rest_after(milliseconds(4), 49), milliseconds(196)) << "a fiftieth is planning";
  EXPECT_EQ(Runner::rest_after(seconds(5), 49), seconds(1));
}

TEST_F(RunnerTest, PlansOnlyWhenEverySourceIsComplete) {
  wake();
  EXPECT_EQ(passes(), 0u);
  server_.show_complete(kPods, 1);
  EXPECT_EQ(passes(), 0u);
  runner_.add({"d", "other"});
  server_.settle();
  server_.show_complete(kMaps, 1);
  server_.settle();
  EXPECT_THAT(passes_, ElementsAre("d/k failures=0", "d/other failures=0"));
}

TEST_F(RunnerTest, WhatMayWaitIsDoneOnceAndAsItLooksThen) {
  const auto may_wait = [this](const std::string& name) {
    next_ = {};
    next_.then(make(name));
    next_.may_wait = milliseconds(100);
  };
  complete();
  may_wait("first");
  wake();
  EXPECT_EQ(passes(), 1u);
  server_.pass_time(milliseconds(60));
  may_wait("second");
  wake();
  EXPECT_EQ(passes(), 2u);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  may_wait("third");
  server_.pass_time(milliseconds(40));  // since the first
  EXPECT_EQ(passes(), 3u);
  EXPECT_THAT(server_.waiting(), SizeIs(1));
  EXPECT_THAT(server_.asked.back().body(), HasSubstr("third"));
}

// An earlier wish to look again takes the place of the later one, and must not take its duty too.
TEST_F(RunnerTest, WhatMayWaitIsDoneThoughTheKeyComesEarlier) {
  complete();
  next_.look_again = milliseconds(50);
  wake();
  EXPECT_EQ(passes(), 1u);
  wake();
  counts_after(milliseconds(0));
  EXPECT_EQ(passes(), 2u);
  counts_after(milliseconds(60));
  EXPECT_EQ(passes(), 3u);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  counts_after(milliseconds(40));
  EXPECT_EQ(passes(), 4u);
  EXPECT_THAT(server_.waiting(), SizeIs(1));
}

TEST_F(RunnerTest, WhatMayWaitDoesNotHoldUpWhatMayNot) {
  complete();
  next_.then(make("counts"));
  next_.may_wait = milliseconds(100);
  wake();
  EXPECT_EQ(passes(), 1u);
  next_.then(make("urgent"));
  wake();
  EXPECT_THAT(server_.waiting(), SizeIs(1));
  EXPECT_THAT(server_.asked.back().body(), HasSubstr("urgent"));
}

TEST_F(RunnerTest, WhatMayWaitWaitsForWritesUnderWayButNotForever) {
  put_off_behind_a_write();
  for (std::size_t pass = 3; pass < 6; ++pass) {
    counts_after(milliseconds(100));
    EXPECT_EQ(passes(), pass);
    EXPECT_THAT(server_.waiting(), SizeIs(1)) << "the urgent one";
  }
  counts_after(milliseconds(100));
  EXPECT_THAT(server_.waiting(), SizeIs(2));
}

TEST_F(RunnerTest, WhatMayWaitIsDoneSoonAfterTheWritesUnderWay) {
  put_off_behind_a_write();
  counts_after(milliseconds(100));
  EXPECT_THAT(server_.waiting(), SizeIs(1));
  server_.answer_object("urgent", 2);
  counts_after(milliseconds(100));
  EXPECT_THAT(server_.asked.back().body(), HasSubstr("counts"));
}

TEST_F(RunnerTest, AStepBeginsWhenAllOfTheStepBeforeSucceeded) {
  complete();
  next_.write(make("a"));
  next_.write(make("b"));
  next_.then(kill("c"));
  next_.events.push_back(event("Done", "all of it"));
  wake();
  EXPECT_THAT(server_.waiting(), SizeIs(2));
  server_.answer_object("a", 5);
  EXPECT_THAT(server_.waiting(), SizeIs(1));
  server_.answer_object("b", 6);
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/pods/c"));
  EXPECT_THAT(events_.told, IsEmpty());
  EXPECT_THAT(carried_out_, IsEmpty());
  server_.answer_deleted("c");
  EXPECT_THAT(events_.told, ElementsAre("Done: all of it"));
  EXPECT_THAT(carried_out_, ElementsAre("k"));
}

TEST_F(RunnerTest, EmptyStepsArePassedOver) {
  complete();
  next_.steps.resize(2);
  next_.then(make("a"));
  next_.steps.emplace_back();
  wake();
  EXPECT_THAT(server_.waiting(), SizeIs(1));
  server_.answer_object("a", 5);
  EXPECT_THAT(carried_out_, ElementsAre("k"));
}

TEST_F(RunnerTest, SixtyFourWritesAreUnderWayAndKeysTakeTurns) {
  complete();
  for (int i = 0; i < 100; ++i) next_.write(make(fmt::format("big-{}", i)));
  wake();
  server_.settle();
  next_.write(make("small"));
  runner_.add({"e", "other"});
  EXPECT_THAT(server_.waiting(), SizeIs(64));
  server_.answer_object("big-0", 5);
  server_.answer_object("big-1", 6);
  EXPECT_THAT(server_.asked.back().body(), HasSubstr("small")) << "not after all of the big one";
  for (int i = 0; i < 99; ++i) server_.answer_object("x", 7);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  EXPECT_THAT(carried_out_, ElementsAre("other", "k"));
}

TEST_F(RunnerTest, ARefusalEndsThePlanAfterItsStepAndIsTold) {
  complete();
  next_.write(make("a"));
  next_.write(make("b"));
  next_.steps.back().writes.back().refusal = "pod b: {}";
  next_.steps.back().when_refused = event("Refused", "could not: {}");
  next_.then(make("later"));
  next_.events.push_back(event("Done", ""));
  wake();
  server_.settle();
  server_.refuse(403, "Forbidden", "quota {} of it");
  server_.refuse(403, "Forbidden", "never");
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "the next step must not begin";
  EXPECT_THAT(events_.told, ElementsAre("Refused: could not: quota {} of it\npod b: never"));
  EXPECT_THAT(carried_out_, IsEmpty());
}

TEST_F(RunnerTest, ARefusedWriteTellsItsOwnEvent) {
  complete();
  next_.write(make("a"));
  next_.steps.back().writes.back().when_refused = event("FailedCreate", "Error creating: {}");
  wake();
  server_.settle();
  server_.refuse(403, "Forbidden", "not here");
  EXPECT_THAT(events_.told, ElementsAre("FailedCreate: Error creating: not here"));
}

TEST_F(RunnerTest, AFailedPassComesBackLaterEachTimeAndKnowsHowOften) {
  complete();
  next_.write(make("a"));
  wake();
  for (std::size_t i = 0; i < 3; ++i) {
    server_.refuse(500, "InternalError");
    if (i < 2) next_.write(make("a"));
    server_.pass_time(milliseconds(5 << i) - milliseconds(1));
    EXPECT_EQ(passes(), i + 1);
    server_.pass_time(milliseconds(1));
    EXPECT_EQ(passes(), i + 2);
  }
  EXPECT_THAT(passes_,
              ElementsAre("d/k failures=0", "d/k failures=1", "d/k failures=2", "d/k failures=3"));
  wake();
  server_.settle();
  EXPECT_EQ(passes_.back(), "d/k failures=0") << "the last pass was a success";
}

TEST_F(RunnerTest, AnErrorOfThePlannerIsAFailedPassAfterItsWrites) {
  complete();
  next_.write(make("a"));
  next_.error = "no such kind";
  wake();
  server_.settle();
  server_.answer_object("a", 5);
  server_.show_named(kPods, "ADDED", "a", 5);
  server_.pass_time(milliseconds(5));
  EXPECT_EQ(passes_.at(1), "d/k failures=1");
}

TEST_F(RunnerTest, WhatMayExistOrIsGoneAlreadyIsNoRefusal) {
  complete();
  next_.write(make("a"));
  next_.steps.back().writes.back().may_exist = true;
  next_.write(kill("b"));
  wake();
  server_.settle();
  server_.refuse(409, "AlreadyExists");
  server_.refuse(404, "NotFound");
  EXPECT_THAT(carried_out_, ElementsAre("k"));
}

TEST_F(RunnerTest, ACreateThatMayNotExistIsRefused) {
  complete();
  next_.write(make("a"));
  wake();
  server_.settle();
  server_.refuse(409, "AlreadyExists");
  EXPECT_THAT(carried_out_, IsEmpty());
}

TEST_F(RunnerTest, WhatIsToldOfAWriteNamesTheAnsweredObject) {
  complete();
  next_.write(make(""));
  next_.steps.back().writes.back().when_done = event("Created", "made {}");
  next_.then(make("never"));
  wake();
  server_.settle();
  server_.answer_object("p-x7k2l", 5);
  EXPECT_THAT(events_.told, ElementsAre("Created: made p-x7k2l"));
}

TEST_F(RunnerTest, AnAnswerThatIsNoObjectIsNotWaitedFor) {
  complete();
  for (const std::string body : {R"({"kind":"Status","status":"Success"})", "<html>", ""}) {
    next_.write(make("a"));
    next_.steps.back().writes.back().when_done = event("Made", "made {}");
    wake();
    server_.settle();
    server_.answer(201, body);
    const std::size_t before = passes();
    wake();
    EXPECT_EQ(passes(), before + 1) << body;
  }
  EXPECT_THAT(events_.told, ElementsAre("Made: made ", "Made: made ", "Made: made "));
}

// The heart of it: a plan never repeats a write because its effect has not come back yet.
TEST_F(RunnerTest, TheNextPassWaitsUntilTheOwnCreateIsSeen) {
  complete();
  next_.write(make("a"));
  wake();
  server_.settle();
  server_.answer_object("a", 5);
  wake();
  EXPECT_EQ(passes(), 1u);
  server_.show_named(kPods, "ADDED", "other", 4);
  EXPECT_EQ(passes(), 1u) << "an older event proves nothing";
  server_.show_named(kPods, "ADDED", "a", 5);
  EXPECT_EQ(passes(), 2u);
}

TEST_F(RunnerTest, AnEventThatOvertakesItsAnswerIsNotWaitedForAgain) {
  complete();
  next_.write(make("a"));
  wake();
  server_.settle();
  server_.show_named(kPods, "ADDED", "a", 5);
  server_.answer_object("a", 5);
  EXPECT_EQ(passes(), 2u) << "at once: the event woke the key while it was worked on";
}

TEST_F(RunnerTest, TheNextPassWaitsUntilTheOwnRemovalIsSeen) {
  complete();
  server_.show_named(kPods, "ADDED", "a", 2);
  const std::size_t before = passes();
  next_.write(kill("a"));
  wake();
  server_.settle();
  server_.answer_deleted("a");
  wake();
  EXPECT_EQ(passes(), before + 1);
  server_.show_named(kPods, "DELETED", "a", 3);
  EXPECT_EQ(passes(), before + 2);
}

TEST_F(RunnerTest, ARemovalIsSeenWhenTheObjectIsMarkedOrAnotherOneHasItsName) {
  complete();
  int revision = 10;
  for (const char* change :
       {R"("uid":"u-a","deletionTimestamp":"2027-01-15T08:00:00Z")", R"("uid":"a-new-one")"}) {
    server_.show_named(kPods, "MODIFIED", "a", ++revision);
    const std::size_t before = passes();
    next_.write(kill("a"));
    wake();
    server_.settle();
    server_.answer_deleted("a");
    wake();
    EXPECT_EQ(passes(), before + 1);
    server_.show(
        kPods, "MODIFIED",
        fmt::format(R"({{"metadata":{{"namespace":"d","name":"a","resourceVersion":"{}",{}}}}})",
                    ++revision, change));
    EXPECT_EQ(passes(), before + 2) << change;
  }
}

TEST_F(RunnerTest, AnEventThatDoesNotBringItsKeyIsFoundSoon) {
  complete();
  wake_on_pods_ = false;
  next_.write(make("a"));
  wake();
  server_.settle();
  server_.answer_object("a", 5);
  wake();
  server_.settle();
  server_.show_named(kPods, "ADDED", "a", 5);
  EXPECT_EQ(passes(), 1u);
  server_.pass_time(seconds(1));
  EXPECT_EQ(passes(), 2u);
}

TEST_F(RunnerTest, PatienceEndsAfterThirtySeconds) {
  complete();
  next_.write(make("a"));
  wake();
  server_.settle();
  server_.answer_object("a", 5);
  wake();
  server_.pass_time(seconds(29));
  EXPECT_EQ(passes(), 1u);
  server_.pass_time(seconds(2));
  EXPECT_EQ(passes(), 2u);
}

TEST_F(RunnerTest, AChangeDuringAPassIsLookedAtAfterwards) {
  complete();
  next_.write(make("a"));
  wake();
  server_.settle();
  server_.show_named(kPods, "ADDED", "other", 3);
  EXPECT_EQ(passes(), 1u);
  server_.refuse(404, "NotFound");
  EXPECT_EQ(passes(), 2u);
}

TEST_F(RunnerTest, LooksAgainWhenThePlanSaysSo) {
  complete();
  next_.look_again = seconds(7);
  wake();
  server_.pass_time(milliseconds(6'999));
  EXPECT_EQ(passes(), 1u);
  server_.pass_time(milliseconds(1));
  EXPECT_EQ(passes(), 2u);
}

TEST_F(RunnerTest, ChangedPlansAreLoggedWithWhatWasSeen) {
  complete();
  next_.write(make("a"));
  next_.reason = "a is missing";
  wake();
  server_.settle();
  ASSERT_THAT(log_.all(), SizeIs(1));
  const Decision& decision = log_.all().front();
  EXPECT_EQ(decision.controller, "test");
  EXPECT_EQ(decision.seen, "pods@1 configmaps@1");
  EXPECT_EQ(decision.plan, "a is missing\n  1. create pods d/a");
  server_.refuse(500, "InternalError");
  next_.write(make("a"));
  next_.reason = "a is missing";
  server_.pass_time(milliseconds(5));
  EXPECT_THAT(log_.all(), SizeIs(1)) << "nothing new";
  EXPECT_THAT(log_.about({"d", "k"}), SizeIs(1));
  EXPECT_THAT(log_.about({"d", "other"}), IsEmpty());
}

TEST_F(RunnerTest, TheTextOfALargePlanIsCut) {
  for (int i = 0; i < 100; ++i) next_.write(make(fmt::format("p-{}", i)));
  const std::string text = next_.text();
  EXPECT_THAT(text, HasSubstr("create pods d/p-49"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("create pods d/p-50")));
  EXPECT_THAT(text, HasSubstr("… and 50 more"));
}

TEST_F(RunnerTest, AnAnswerAfterTheRunnerIsGoneHurtsNobody) {
  complete();
  auto runner = std::make_unique<Runner>(
      server_.client,
      Runner::Options{.name = "short", .sources = {&pods_}, .plan = [this](auto&, auto&) {
                        return std::exchange(next_, {});
                      }});
  next_.write(make("a"));
  runner->add({"d", "k"});
  server_.settle();
  runner = nullptr;
  server_.answer_object("a", 5);
}

}  // namespace runner_test
}  // namespace muster::controllers
