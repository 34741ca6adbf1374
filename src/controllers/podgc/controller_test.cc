#include "controllers/podgc/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::podgc {
namespace controller_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kPods = "/api/v1/pods";
const std::string kNodes = "/api/v1/nodes";

class PodGcController : public controllers::testing::ControllerTest<Controller> {
 protected:
  PodGcController() {
    informers_.start();
    server_.settle();
    server_.show(kPods, "ADDED",
                 R"({"metadata":{"namespace":"d","name":"a","uid":"u-a","resourceVersion":"1"},
                     "spec":{"nodeName":"n1"},"status":{"phase":"Running"}})");
    server_.show_complete(kPods, 1);
    server_.show_complete(kNodes, 1);
  }
};

TEST_F(PodGcController, APodOfALostNodeGoesAfterItsQuarantineAndAQuestion) {
  server_.pass_time(seconds(59));
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/nodes/n1"));
  server_.refuse(404, "NotFound");
  EXPECT_THAT(server_.waiting(), ElementsAre("PATCH /api/v1/namespaces/d/pods/a/status"));
  server_.answer_object("a", 2);
  EXPECT_THAT(server_.waiting(), ElementsAre("DELETE /api/v1/namespaces/d/pods/a"));
}

TEST_F(PodGcController, ANodeThatTheServerKnowsIsNotLost) {
  server_.pass_time(seconds(60));
  server_.answer(200, R"({"metadata":{"name":"n1"}})");
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(PodGcController, AnAnswerThatSaysNothingChangesNothing) {
  server_.pass_time(seconds(60));
  server_.refuse(500, "InternalError");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.pass_time(seconds(20));
  EXPECT_THAT(server_.waiting(), ElementsAre("GET /api/v1/nodes/n1")) << "it asks again";
}

TEST_F(PodGcController, ANodeThatCameIsNotAskedFor) {
  server_.pass_time(seconds(50));
  server_.show(kNodes, "ADDED", R"({"metadata":{"name":"n1","uid":"u","resourceVersion":"5"}})");
  server_.pass_time(seconds(60));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(PodGcController, APodOfTheSameNameThatCameLaterIsSpared) {
  server_.pass_time(seconds(60));
  server_.refuse(404, "NotFound");
  server_.refuse(409, "Conflict");
  server_.show(kPods, "MODIFIED",
               R"({"metadata":{"namespace":"d","name":"a","uid":"u-new","resourceVersion":"9"},
                   "spec":{},"status":{"phase":"Pending"}})");
  server_.pass_time(seconds(1));
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

}  // namespace controller_test
}  // namespace muster::controllers::podgc
