#include "controllers/garbage/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::garbage {
namespace controller_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kMaps = "/api/v1/configmaps";

class GarbageController : public controllers::testing::ControllerTest<Controller> {
 protected:
  GarbageController() { informers_.start(); }

  void show_map(std::string_view type, const std::string& name, int revision,
                const std::string& owner = "", const std::string& more = "") {
    const std::string owners =
        owner.empty() ? ""
                      : fmt::format(R"(,"ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap",
                          "name":"{}","uid":"u-{}"}}])",
                                    owner, owner);
    server_.show(kMaps, type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"{}","uid":"u-{}",
                     "resourceVersion":"{}"{}{}}}}})",
                             name, name, revision, owners, more));
  }
};

TEST_F(GarbageController, WatchesTheMetadataOfAllKindsButEvents) {
  server_.settle();
  EXPECT_TRUE(server_.watches.contains("/apis/batch/v1/jobs"));
  EXPECT_TRUE(server_.watches.contains("/apis/jobset.x-k8s.io/v1alpha2/jobsets"));
  EXPECT_FALSE(server_.watches.contains("/api/v1/events"));
  for (const auto& [path, watch] : server_.watches) {
    EXPECT_THAT(http::find_header(watch->request().headers, "Accept"),
                HasSubstr("PartialObjectMetadata"))
        << path;
  }
}

TEST_F(GarbageController, NothingGoesBeforeAllKindsAreKnown) {
  server_.settle();
  show_map("ADDED", "a", 1, "owner");
  for (const auto& [path, watch] : server_.watches) {
    if (path != "/api/v1/secrets") server_.show_complete(path, 1);
  }
  server_.pass_time(seconds(5));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.show_complete("/api/v1/secrets", 1);
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/d/configmaps/owner"));
}

TEST_F(GarbageController, AnOwnerThatWasNeverSeenIsAskedForOnceForAllOfItsDependents) {
  server_.complete_all(1);
  for (int i = 0; i < 5; ++i) show_map("ADDED", fmt::format("a-{}", i), 2 + i, "owner");
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/d/configmaps/owner"));
  EXPECT_FALSE(controller_.idle());
  server_.refuse(404, "NotFound");
  EXPECT_THAT(server_.waiting(), SizeIs(5));
  EXPECT_THAT(server_.waiting()[0], HasSubstr("DELETE /api/v1/namespaces/d/configmaps/a-"));
}

constexpr const char* kForeground =
    R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["foregroundDeletion"])";

TEST_F(GarbageController, ARootThatGoesInTheForegroundGetsAMomentForWhatIsStillOnItsWay) {
  server_.complete_all(1);
  show_map("ADDED", "root", 2, "", kForeground);
  server_.pass_time(milliseconds(300));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  const std::string blocks = R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",
      "name":"root","uid":"u-root","blockOwnerDeletion":true}])";
  show_map("ADDED", "late", 3, "", blocks);
  server_.pass_time(milliseconds(300));
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/configmaps/late"));
  server_.answer(200, "{}");
  show_map("DELETED", "late", 4, "", blocks);
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/root"));
}

TEST_F(GarbageController, ARootIsReleasedAtOnceWhenAllKindsAreKnownUpToItsDeletion) {
  show_map("ADDED", "root", 2, "", kForeground);
  server_.complete_all(2);
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/root"));
}

TEST_F(GarbageController, ABranchIsReleasedAtOnce) {
  server_.complete_all(1);
  show_map("ADDED", "root", 2);
  show_map("ADDED", "branch", 3, "root", kForeground);
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/branch"));
}

TEST_F(GarbageController, AnOwnerOfAnotherUidIsAbsent) {
  server_.complete_all(1);
  show_map("ADDED", "a", 2, "owner");
  server_.settle();
  server_.answer(200, R"({"metadata":{"namespace":"d","name":"owner","uid":"u-new"}})");
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/configmaps/a"));
}

TEST_F(GarbageController, AnOwnerThatIsThereIsAskedForAgainUntilItIsSeen) {
  server_.complete_all(1);
  show_map("ADDED", "a", 2, "owner");
  server_.answer(200, R"({"metadata":{"namespace":"d","name":"owner","uid":"u-owner"}})");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  EXPECT_TRUE(controller_.idle());
  server_.pass_time(seconds(60));
  EXPECT_THAT(server_.waiting(), SizeIs(1));
  server_.answer(200, R"({"metadata":{"namespace":"d","name":"owner","uid":"u-owner"}})");
  show_map("ADDED", "owner", 3);
  server_.pass_time(seconds(120));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(GarbageController, WithoutAnAnswerItAsksAgain) {
  server_.complete_all(1);
  show_map("ADDED", "a", 2, "owner");
  server_.refuse(503, "ServiceUnavailable");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/d/configmaps/owner"));
}

TEST_F(GarbageController, AnOwnerThatWasSeenGoingIsNotAskedFor) {
  server_.complete_all(1);
  show_map("ADDED", "owner", 2);
  show_map("ADDED", "a", 3, "owner");
  show_map("DELETED", "owner", 4);
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/configmaps/a"));
}

TEST_F(GarbageController, AnObjectThatIsGoneAlreadyIsFine) {
  server_.complete_all(1);
  show_map("ADDED", "owner", 2);
  show_map("ADDED", "a", 3, "owner");
  show_map("DELETED", "owner", 4);
  server_.refuse(404, "NotFound");
  server_.pass_time(seconds(10));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(GarbageController, AnObjectThatChangedMeanwhileIsJudgedAnewBeforeItIsDeleted) {
  server_.complete_all(1);
  show_map("ADDED", "owner", 2);
  show_map("ADDED", "a", 3, "owner");
  show_map("DELETED", "owner", 4);
  server_.settle();
  json::Arena arena;
  EXPECT_EQ(server_.asked[0].json(arena).get({"preconditions", "resourceVersion"}).as_string(),
            "3");
  server_.refuse(409, "Conflict");
  show_map("MODIFIED", "a", 5);  // somebody took the reference out
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

// Kinds that are late are waited for by a span, not by what the clock on the wall says.
TEST_F(GarbageController, AClockThatIsSetHoldsNoForegroundDeletionUp) {
  server_.complete_all(1);
  show_map("ADDED", "root", 3, "",
           R"(,"deletionTimestamp":"2027-01-15T08:00:00Z","finalizers":["foregroundDeletion"])");
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "other kinds are known up to 1 only";
  server_.loop->set_clock(-std::chrono::days(1));
  server_.pass_time(milliseconds(600));
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/root"));
}

TEST_F(GarbageController, OrphaningThatFailsIsTriedAgainBeforeTheOwnerGoes) {
  server_.complete_all(1);
  show_map("ADDED", "a", 2, "owner");
  server_.answer(200, R"({"metadata":{"namespace":"d","name":"owner","uid":"u-owner"}})");
  show_map("ADDED", "owner", 3, "",
           R"(,"deletionTimestamp":"2027-01-15T08:00:00Z","finalizers":["orphan"])");
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/a"));
  server_.refuse(500, "InternalError");
  EXPECT_THAT(server_.waiting(), IsEmpty()) << "not the finalizer";
  server_.pass_time(milliseconds(5));
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/a"));
  server_.answer_object("a", 4);
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/configmaps/owner"));
}

TEST_F(GarbageController, AnObjectOfMoreOwnersThanAreRememberedIsJudgedInTheEnd) {
  constexpr std::size_t kOwners = Owners::kMaxRemembered + 100;
  std::string owners;
  for (std::size_t i = 0; i < kOwners; ++i)
    owners +=
        fmt::format(R"({}{{"apiVersion":"v1","kind":"ConfigMap","name":"o-{}","uid":"u-{}"}})",
                    i == 0 ? "" : ",", i, i);
  server_.complete_all(1);
  show_map("ADDED", "a", 2, "", fmt::format(R"(,"ownerReferences":[{}])", owners));
  std::size_t questions = 0;
  server_.settle();
  while (!server_.asked.empty() && questions <= kOwners &&
         server_.asked.front().text().starts_with("GET")) {
    ++questions;
    server_.refuse(404, "NotFound");
  }
  EXPECT_EQ(questions, kOwners) << "each once";
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/configmaps/a"));
}

// As many owners as a large JobSet has Jobs go at once, each with what it owns.
TEST_F(GarbageController, NobodyIsAskedAboutOwnersThatWereSeenToGoHoweverMany) {
  constexpr int kOwners = Owners::kMaxRemembered + 100;
  server_.complete_all(1);
  int revision = 1;
  for (int i = 0; i < kOwners; ++i) {
    show_map("ADDED", fmt::format("o-{}", i), ++revision);
    show_map("ADDED", fmt::format("a-{}", i), ++revision, fmt::format("o-{}", i));
  }
  for (int i = 0; i < kOwners; ++i) show_map("DELETED", fmt::format("o-{}", i), ++revision);
  int deleted = 0;
  for (; !server_.waiting().empty(); ++deleted) {
    const std::string text = server_.asked.front().text();
    ASSERT_THAT(text, ::testing::StartsWith("DELETE"));
    const std::string name = text.substr(text.rfind('/') + 1);
    server_.answer_deleted(name);
    show_map("DELETED", name, ++revision, "o" + name.substr(1));
  }
  EXPECT_EQ(deleted, kOwners);
}

TEST_F(GarbageController, AnswersAboutOwnersThatAnObjectNoLongerNamesAreNotTakenForOthers) {
  server_.complete_all(1);
  show_map("ADDED", "a", 2, "old");
  ASSERT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/d/configmaps/old"));
  show_map("MODIFIED", "a", 3, "new");
  ASSERT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/d/configmaps/old",
                                             "GET /api/v1/namespaces/d/configmaps/new"));
  server_.refuse(404, "NotFound");
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/d/configmaps/new"));
}

class GarbageSources : public controllers::testing::EngineTest {};

TEST_F(GarbageSources, KindsThatOthersWatchAreNotWatchedTwice) {
  client::Informer& pods = informers_.of("", "v1", "pods");
  EXPECT_EQ(&informers_.metadata_of(pods.resource()), &pods);
  const Controller controller(shared_);
  informers_.start();
  server_.settle();
  EXPECT_EQ(http::find_header(server_.watches.at("/api/v1/pods")->request().headers, "Accept"),
            "application/json");
}

}  // namespace controller_test
}  // namespace muster::controllers::garbage
