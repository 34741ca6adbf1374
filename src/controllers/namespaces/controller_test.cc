#include "controllers/namespaces/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::namespaces {
namespace controller_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kNamespaces = "/api/v1/namespaces";

class NamespaceController : public controllers::testing::EngineTest {
 protected:
  NamespaceController() {
    informers_.start();
    server_.complete_all(1);
  }
  void show_namespace(int revision, bool deleted,
                      std::string_view status = R"({"phase":"Terminating"})") {
    server_.show(
        kNamespaces, "MODIFIED",
        fmt::format(R"({{"metadata":{{"name":"a","uid":"u","resourceVersion":"{}"{}}},
                     "spec":{{"finalizers":["kubernetes"]}},"status":{}}})",
                    revision, deleted ? R"(,"deletionTimestamp":"2027-01-15T08:00:00Z")" : "",
                    status));
  }
  // Answers the lists that wait; those of one kind have one object.
  void answer_lists(std::string_view plural = "", std::string_view object = "") {
    for (server_.settle(); !server_.asked.empty() && server_.asked[0].text().starts_with("GET");
         server_.settle()) {
      const bool special = !plural.empty() && server_.asked[0].text().ends_with(plural);
      server_.answer(200, fmt::format(R"({{"items":[{}]}})", special ? object : ""));
    }
  }

  std::unique_ptr<Controller> controller_ = std::make_unique<Controller>(shared_);
};

TEST_F(NamespaceController, LivingNamespacesAreNoneOfItsBusiness) {
  show_namespace(2, false);
  server_.pass_time(seconds(60));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(NamespaceController, ADeletedOneIsReadAfterFiveSecondsAndLetGoWhenItIsEmpty) {
  show_namespace(2, true);
  server_.pass_time(milliseconds(4'999));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(milliseconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/a/pods"));
  EXPECT_FALSE(controller_->idle());
  answer_lists();
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/a/status"));
  server_.answer_object("a", 3);
  EXPECT_THAT(server_.waiting(), ElementsAre("PUT /api/v1/namespaces/a/finalize"));
  server_.answer_object("a", 4);
  server_.show(kNamespaces, "DELETED",
               R"({"metadata":{"name":"a","uid":"u","resourceVersion":"4"}})");
  server_.pass_time(seconds(60));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  EXPECT_TRUE(controller_->idle());
}

TEST_F(NamespaceController, AfterADeletionItReadsAgain) {
  show_namespace(2, true);
  server_.pass_time(seconds(5));
  answer_lists("configmaps", R"({"metadata":{}})");
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/a/configmaps"));
  server_.answer(200, "{}");
  server_.pass_time(milliseconds(100));
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/a/pods"));
}

TEST_F(NamespaceController, WhenTheLastPodIsGoneItDoesNotWaitAnyLonger) {
  for (const auto& [name, revision] : {std::pair{"p", 3}, {"q", 4}}) {
    server_.show("/api/v1/pods", "ADDED",
                 fmt::format(R"({{"metadata":{{"namespace":"a","name":"{}","uid":"u-{}",
                     "resourceVersion":"{}"}}}})",
                             name, name, revision));
  }
  constexpr std::string_view kLeaving = R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:05Z"},
      "spec":{"terminationGracePeriodSeconds":30}})";
  show_namespace(2, true);
  server_.pass_time(seconds(5));
  answer_lists("pods", kLeaving);
  json::Arena arena;
  const json::Value status = server_.asked.at(0).json(arena).get("status");
  status.set("phase", "Terminating");
  server_.answer_object("a", 4);
  show_namespace(4, true, json::write(status));
  answer_lists("pods", kLeaving);
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "nothing to say, and 16 s to wait";
  server_.show("/api/v1/pods", "DELETED",
               R"({"metadata":{"namespace":"a","name":"p","uid":"u-p","resourceVersion":"6"}})");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.show("/api/v1/pods", "DELETED",
               R"({"metadata":{"namespace":"a","name":"q","uid":"u-q","resourceVersion":"7"}})");
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/a/pods"));
}

TEST_F(NamespaceController, AConflictIsTriedAgainWithAFreshLook) {
  show_namespace(2, true);
  server_.pass_time(seconds(5));
  answer_lists();
  server_.refuse(409, "Conflict");
  server_.pass_time(milliseconds(5));
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/a/pods"));
}

TEST_F(NamespaceController, AnAnswerAfterItsEndHurtsNobody) {
  show_namespace(2, true);
  server_.pass_time(seconds(5));
  controller_ = nullptr;
  answer_lists();
}

}  // namespace controller_test
}  // namespace muster::controllers::namespaces
