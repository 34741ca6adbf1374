#include "controllers/namespaces/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::namespaces {
namespace survey_test {

using std::chrono::seconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const std::string kNothing = R"({"items":[]})";

class Surveys : public ::testing::Test {
 protected:
  void start() {
    survey_ = Survey::start(server_.client, registry_, "a",
                            [this](Content content) { content_ = std::move(content); });
  }
  // Answers all lists, those of `plural` with the text.
  void answer_all(std::string_view plural = "", const std::string& text = kNothing,
                  int status = 200) {
    for (server_.settle(); !server_.asked.empty(); server_.settle()) {
      most_under_way_ = std::max(most_under_way_, server_.asked.size());
      const bool special = !plural.empty() && server_.asked.front().text().ends_with(plural);
      special ? server_.answer(status, text) : server_.answer(200, kNothing);
    }
  }

  testing::FakeServer server_;
  const api::Registry& registry_ = api::Registry::builtin();
  std::shared_ptr<Survey> survey_;
  std::optional<Content> content_;
  std::size_t most_under_way_ = 0;
};

TEST_F(Surveys, EveryKindOfANamespaceCanBeDeletedAsACollection) {
  const auto kinds = kinds_in_namespaces(registry_);
  EXPECT_GT(kinds.size(), 20u);
  for (const api::Resource* kind : kinds)
    EXPECT_TRUE(kind->has_verb("deletecollection")) << kind->plural;
}

TEST_F(Surveys, AnEmptyNamespaceIsEmptyInAllKinds) {
  start();
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/namespaces/a/pods"));
  answer_all();
  ASSERT_TRUE(content_);
  EXPECT_TRUE(content_->is_empty());
  EXPECT_EQ(most_under_way_, 8u);
}

TEST_F(Surveys, WhilePodsAreLeftNothingElseIsRead) {
  start();
  server_.settle();
  server_.answer(200, R"({"items":[
    {"metadata":{"finalizers":["x"]},"spec":{"terminationGracePeriodSeconds":30},"status":{"phase":"Running"}},
    {"metadata":{"finalizers":["x","y"],"deletionTimestamp":"2027-01-15T08:00:00Z"},
     "spec":{"terminationGracePeriodSeconds":600},"status":{"phase":"Succeeded"}}]})");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  ASSERT_TRUE(content_);
  ASSERT_THAT(content_->kinds, SizeIs(1));
  EXPECT_EQ(content_->kinds[0].objects, 2);
  EXPECT_EQ(content_->kinds[0].untouched, 1);
  EXPECT_THAT(content_->kinds[0].finalizers, ElementsAre(Pair("x", 2), Pair("y", 1)));
  EXPECT_EQ(content_->pod_grace, seconds(30)) << "an ended pod needs no grace";
}

TEST_F(Surveys, AGraceMayBeLongerThanClocksCount) {
  start();
  server_.settle();
  server_.answer(200, R"({"items":[{"metadata":{},"status":{"phase":"Running"},
    "spec":{"terminationGracePeriodSeconds":9223372036854775807}}]})");
  ASSERT_TRUE(content_);
  EXPECT_GT(Duration(content_->pod_grace), std::chrono::years(100));
}

TEST_F(Surveys, OtherKindsAreReadAsMetadata) {
  start();
  server_.answer(200, kNothing);
  EXPECT_THAT(
      std::string(http::find_header(server_.asked.front().exchange->request().headers, "Accept")),
      ::testing::HasSubstr("PartialObjectMetadataList"));
  answer_all("configmaps", R"({"items":[{"metadata":{}}]})");
  ASSERT_THAT(content_->kinds, SizeIs(1));
  EXPECT_EQ(content_->kinds[0].resource->plural, "configmaps");
}

TEST_F(Surveys, AKindThatIsNotServedHoldsNothing) {
  start();
  answer_all("configmaps", R"({"kind":"Status","reason":"NotFound","message":"no such kind"})",
             404);
  EXPECT_TRUE(content_->is_empty());
}

TEST_F(Surveys, AKindThatCannotBeReadIsNamed) {
  start();
  answer_all("configmaps", R"({"kind":"Status","reason":"InternalError","message":"on fire"})",
             500);
  EXPECT_FALSE(content_->is_empty());
  EXPECT_THAT(content_->errors, ElementsAre("on fire"));
}

TEST_F(Surveys, AStoppedOneTellsNothing) {
  start();
  server_.settle();
  survey_->stop();
  server_.answer(200, kNothing);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  EXPECT_FALSE(content_);
}

}  // namespace survey_test
}  // namespace muster::controllers::namespaces
