// What a runner does with creates for an object that goes while the plan is carried out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/runner.h"
#include "controllers/runtime/testing.h"
#include "controllers/runtime/writes.h"
#include "json/testing.h"

namespace muster::controllers {
namespace pointless_creates_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The runner creates 100 pods for the ConfigMap "k", then deletes one. 64 creates are under way.
class PointlessCreates : public ::testing::Test {
 protected:
  static constexpr const char* kOwners = "/api/v1/configmaps";

  PointlessCreates() {
    owners_.start();
    server_.complete_all(1);
    server_.show_named(kOwners, "ADDED", "k", 2);
    next_.steps.resize(1);
    next_.steps[0].when_refused = Event{.regarding = {}, .reason = "Refused"};
    for (int i = 0; i < 100; ++i) {
      const json::Tree pod(fmt::format(R"({{"metadata":{{"namespace":"d","name":"p-{}"}}}})", i));
      next_.write({.operation = create(pods_, pod)});
    }
    next_.then({.operation = remove(pods_, {.ns = "d", .name = "later", .uid = "u"},
                                    Propagation::kBackground)});
    runner_.add({"d", "k"});
    EXPECT_THAT(server_.waiting(), SizeIs(64));
  }
  // The answers to the oldest requests.
  void answer(int requests) {
    for (int i = 0; i < requests; ++i) server_.answer_object("p", 10 + i);
  }

  struct Listener final : EventRecorder {
    void record(const Event& event) override { told.push_back(event.reason); }
    std::vector<std::string> told;
  };

  testing::FakeServer server_;
  const api::Resource& pods_ = testing::resource("v1", "Pod");
  client::Informer owners_{server_.client, testing::resource("v1", "ConfigMap")};
  Listener events_;
  Plan next_;
  std::vector<int> passes_;  // the failures before each
  Runner runner_{server_.client,
                 {.name = "test",
                  .sources = {&owners_},
                  .plan =
                      [this](const QueueKey&, const Pass& pass) {
                        passes_.push_back(pass.failures);
                        return std::exchange(next_, {});
                      },
                  .creates_for = &owners_,
                  .events = &events_}};
};

TEST_F(PointlessCreates, AllAreSentWhileTheObjectIsThere) {
  server_.show_named(kOwners, "MODIFIED", "k", 3);
  answer(100);
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/pods/later"));
}

TEST_F(PointlessCreates, NoneIsSentWhenTheObjectIsGone) {
  server_.show_named(kOwners, "DELETED", "k", 3);
  answer(64);
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "36 creates, and the next step, were dropped";
  EXPECT_THAT(events_.told, IsEmpty()) << "nothing was refused";
  server_.pass_time(std::chrono::seconds(1));
  EXPECT_THAT(passes_, ElementsAre(0, 1)) << "the next pass sees why";
  EXPECT_TRUE(runner_.idle());
}

TEST_F(PointlessCreates, NoneIsSentWhenTheObjectIsBeingDeleted) {
  server_.show(kOwners, "MODIFIED",
               R"({"metadata":{"namespace":"d","name":"k","uid":"u-k","resourceVersion":"3",
                   "deletionTimestamp":"2026-11-18T05:00:00Z"}})");
  answer(64);
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(PointlessCreates, NoneIsSentForAnotherObjectOfTheSameName) {
  server_.show(kOwners, "MODIFIED",
               R"({"metadata":{"namespace":"d","name":"k","uid":"other","resourceVersion":"3"}})");
  answer(64);
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

}  // namespace pointless_creates_test
}  // namespace muster::controllers
