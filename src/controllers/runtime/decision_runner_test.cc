#include "controllers/runtime/decision_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "controllers/runtime/testing.h"
#include "controllers/runtime/writes.h"
#include "json/testing.h"

namespace muster::controllers {
namespace decision_runner_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kMapsPath = "/api/v1/configmaps";
const std::string kTicketsPath = "/api/v1/pods";
constexpr std::size_t kPerTurn = 3;

// Every configmap wants a ticket, of which there are a few: a small scheduler. One that has a
// ticket is shown with the label "ticket". Decisions about maps named "team-…" are carried out
// together.
class TicketsTest : public ::testing::Test {
 protected:
  using Seen = DecisionRunner<std::string>::Seen;

  TicketsTest() {
    maps_.on_change([this](const client::ObjectPtr& before, const client::ObjectPtr& after) {
      const QueueKey key{"d", (after ? after : before)->meta().name};
      if (!after) {
        runner_.forget(key);
      } else {
        runner_.observed(key, {.uid = after->meta().uid,
                               .revision = client::to_revision(after->meta().resource_version),
                               .shows_effect = after->meta().label("ticket").has_value()});
      }
      runner_.wake();
    });
    maps_.start();
    others_.start();
  }

  Decisions<std::string> decide(const InFlight<std::string>& in_flight) {
    ++turns_;
    std::set<std::string> free{"t1", "t2", "t3", "t4", "t5"};
    for (const auto& [path, map] : maps_.objects())
      if (const auto ticket = map->meta().label("ticket")) free.erase(std::string(*ticket));
    for (const auto& [key, entry] : in_flight.all())
      if (const std::string* ticket = in_flight.find(key)) free.erase(*ticket);
    Decisions<std::string> out;
    for (const auto& [path, map] : maps_.objects()) {
      const QueueKey key{"d", map->meta().name};
      if (map->meta().label("ticket") || in_flight.contains(key) || free.empty()) continue;
      if (out.made.size() == kPerTurn) {
        out.more = true;
        break;
      }
      out.made.push_back(
          {.object = key, .uid = map->meta().uid, .value = *free.begin(), .carried_by = {}});
      if (key.name.starts_with("team-")) out.made.back().carried_by = QueueKey{"d", "team"};
      free.erase(free.begin());
    }
    return out;
  }

  Plan plan(const QueueKey& key) const {
    Plan plan;
    const auto write = [&](const QueueKey& object) {
      const auto* due = runner_.in_flight().due(object);
      if (due == nullptr) return;
      const json::Tree labels(
          fmt::format(R"({{"metadata":{{"labels":{{"ticket":"{}"}}}}}})", due->value));
      Write write{
          .operation = patch(maps_.resource(),
                             {.ns = object.ns, .name = object.name, .uid = due->uid}, labels),
          .decision = due->id};
      plan.write(std::move(write));
    };
    if (key.name != "team") {
      write(key);
      return plan;
    }
    for (const auto& [object, entry] : runner_.in_flight().all())
      if (object.name.starts_with("team-")) write(object);
    return plan;
  }

  void complete() {
    server_.settle();
    server_.show_complete(kMapsPath, 1);
    server_.show_complete(kTicketsPath, 1);
  }
  void map(std::string_view name, std::string_view ticket = "", std::string_view type = "ADDED") {
    server_.show(kMapsPath, type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"{0}","uid":"u-{0}",
                   "resourceVersion":"{1}","labels":{{{2}}}}}}})",
                             name, ++revision_,
                             ticket.empty() ? "" : fmt::format(R"("ticket":"{}")", ticket)));
  }
  // "a: t1" of every write that waits for its answer.
  std::vector<std::string> waiting() {
    server_.settle();
    std::vector<std::string> texts;
    for (const auto& each : server_.asked) {
      json::Arena arena;
      const std::string text = each.text();
      texts.push_back(
          fmt::format("{}: {}", text.substr(text.rfind('/') + 1),
                      each.json(arena).get("metadata").get({"labels", "ticket"}).as_string()));
    }
    return texts;
  }
  std::vector<std::string> changed() { return std::exchange(changed_, {}); }

  controllers::testing::FakeServer server_;
  client::Informer maps_{server_.client, controllers::testing::resource("v1", "ConfigMap")};
  client::Informer others_{server_.client, controllers::testing::resource("v1", "Pod")};
  int turns_ = 0;
  int revision_ = 10;
  std::vector<std::string> changed_;
  DecisionRunner<std::string> runner_{
      server_.client,
      {.decide = [this](const auto& in_flight, Duration) { return decide(in_flight); },
       .changed =
           [this](const QueueKey& key) {
             changed_.push_back(key.name);
             runner_.wake();
           },
       .writes = {.name = "tickets",
                  .sources = {&maps_, &others_},
                  .plan = [this](const QueueKey& key, const Pass&) { return plan(key); },
                  .longest_backoff = seconds(10)}}};
};

TEST_F(TicketsTest, NothingIsDecidedFromHalfAState) {
  map("a");
  server_.show_complete(kMapsPath, 20);
  EXPECT_THAT(waiting(), IsEmpty());
  EXPECT_FALSE(runner_.idle());
  server_.show_complete(kTicketsPath, 20);
  EXPECT_THAT(waiting(), ElementsAre("a: t1"));
}

TEST_F(TicketsTest, ManyWakeUpsAreOneTurn) {
  complete();
  server_.settle();
  const int before = turns_;
  for (int i = 0; i < 100; ++i) runner_.wake();
  server_.settle();
  EXPECT_EQ(turns_, before + 1);
  EXPECT_TRUE(runner_.idle());
}

TEST_F(TicketsTest, WhatIsInFlightIsNotGivenAwayAgain) {
  complete();
  map("a");
  map("b");
  EXPECT_THAT(waiting(), ElementsAre("a: t1", "b: t2"));
  server_.answer_object("a", 30);
  map("c");
  EXPECT_THAT(waiting(), ElementsAre("b: t2", "c: t3")) << "a has a ticket that no watch has shown";
}

TEST_F(TicketsTest, ALongDecisionTakesSeveralTurns) {
  for (const char* name : {"a", "b", "c", "d", "e"}) map(name);
  complete();
  EXPECT_THAT(waiting(), ElementsAre("a: t1", "b: t2", "c: t3", "d: t4", "e: t5"));
  EXPECT_GT(turns_, 1);
}

TEST_F(TicketsTest, ARefusedDecisionIsMadeAgainAfterARest) {
  complete();
  map("a");
  ASSERT_THAT(waiting(), ElementsAre("a: t1"));
  changed();
  server_.refuse(403, "Forbidden");
  EXPECT_THAT(changed(), ElementsAre("a"));
  map("b");
  EXPECT_THAT(waiting(), ElementsAre("b: t1")) << "the ticket was free again";
  server_.answer_object("b", 30);
  server_.pass_time(milliseconds(5));
  EXPECT_THAT(waiting(), ElementsAre("a: t2"));
}

TEST_F(TicketsTest, ADecisionWhoseAnswerIsLostIsSentAgainUnchanged) {
  complete();
  map("a");
  ASSERT_THAT(waiting(), ElementsAre("a: t1"));
  server_.refuse(503, "ServiceUnavailable");
  map("b");
  EXPECT_THAT(waiting(), ElementsAre("b: t2"));
  server_.pass_time(milliseconds(5));
  EXPECT_THAT(waiting(), ElementsAre("b: t2", "a: t1"));
}

TEST_F(TicketsTest, ALostAnswerAndARefusalLeaveTheTicketTakenUntilTheStateShowsWhatHappened) {
  complete();
  map("a");
  server_.settle();
  server_.refuse(503, "ServiceUnavailable");
  server_.pass_time(milliseconds(5));
  ASSERT_THAT(waiting(), ElementsAre("a: t1"));
  server_.refuse(409, "Conflict");
  map("b");
  ASSERT_THAT(waiting(), ElementsAre("b: t2"));
  server_.answer_object("b", 30);
  map("a", "t1", "MODIFIED");
  EXPECT_FALSE(runner_.in_flight().contains({"d", "a"}));
  EXPECT_THAT(waiting(), IsEmpty());
}

TEST_F(TicketsTest, WhatIsNeverSeenIsDecidedAgainWhenPatienceIsOver) {
  complete();
  map("a");
  server_.settle();
  server_.refuse(503, "ServiceUnavailable");
  server_.pass_time(milliseconds(5));
  ASSERT_THAT(waiting(), ElementsAre("a: t1"));
  server_.refuse(409, "Conflict");
  server_.pass_time(seconds(29));
  EXPECT_THAT(waiting(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(waiting(), ElementsAre("a: t1"));
}

TEST_F(TicketsTest, ADeletedObjectGivesItsTicketBack) {
  complete();
  map("a");
  ASSERT_THAT(waiting(), ElementsAre("a: t1"));
  map("a", "", "DELETED");
  map("b");
  EXPECT_THAT(waiting(), ElementsAre("a: t1", "b: t1"));
  server_.refuse(404, "NotFound");
  EXPECT_THAT(waiting(), ElementsAre("b: t1"));
  EXPECT_FALSE(runner_.in_flight().contains({"d", "a"}));
}

TEST_F(TicketsTest, ANewProcessBeginsWithWhatTheStateShows) {
  map("a", "t1");  // by the process before
  map("b");
  complete();
  EXPECT_THAT(waiting(), ElementsAre("b: t2"));
}

TEST_F(TicketsTest, DecisionsWithOneKeyAreCarriedOutByOnePlan) {
  map("team-a");
  map("team-b");
  complete();
  ASSERT_THAT(waiting(), ElementsAre("team-a: t1", "team-b: t2"));
  server_.answer_object("team-a", 30);
  server_.refuse(403, "Forbidden");
  revision_ = 29;
  map("team-a", "t1", "MODIFIED");
  server_.pass_time(milliseconds(5));
  EXPECT_THAT(waiting(), ElementsAre("team-b: t2")) << "the other one was accepted";
}

}  // namespace decision_runner_test
}  // namespace muster::controllers
