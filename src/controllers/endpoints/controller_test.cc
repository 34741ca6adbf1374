#include "controllers/endpoints/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::endpoints {
namespace controller_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kPods = "/api/v1/pods";
const std::string kServices = "/api/v1/services";
const std::string kSlices = "/apis/discovery.k8s.io/v1/endpointslices";

class EndpointController : public controllers::testing::ControllerTest<Controller> {
 protected:
  EndpointController() {
    informers_.start();
    server_.complete_all(1);
    server_.show(kServices, "ADDED",
                 R"({"metadata":{"namespace":"d","name":"x","uid":"u-x","resourceVersion":"2"},
        "spec":{"clusterIP":"None","selector":{"set":"x"}}})");
    server_.show(kServices, "ADDED",
                 R"({"metadata":{"namespace":"d","name":"manual","uid":"u-m","resourceVersion":"3"},
        "spec":{"clusterIP":"None"}})");
    EXPECT_THAT(server_.waiting(),
                ElementsAre("POST /apis/discovery.k8s.io/v1/namespaces/d/endpointslices"));
    server_.answer_object("x-1", 4);
    show_slice("ADDED", 4, "");
    EXPECT_THAT(server_.waiting(), IsEmpty());
  }
  void show_slice(std::string_view type, int revision, std::string_view endpoints) {
    server_.show(kSlices, type,
                 fmt::format(R"({{"metadata":{{"namespace":"d","name":"x-1","uid":"u-x-1",
        "resourceVersion":"{}","labels":{{"kubernetes.io/service-name":"x","service.kubernetes.io/headless":"",
        "endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"}},
        "ownerReferences":[{{"uid":"u-x","controller":true}}]}},"addressType":"IPv4","endpoints":[{}]}})",
                             revision, endpoints));
  }
  void show_pod(std::string_view type, int revision, std::string_view labels,
                std::string_view status) {
    server_.show(
        kPods, type,
        fmt::format(R"({{"metadata":{{"namespace":"d","name":"p","uid":"u-p","resourceVersion":"{}",
        "labels":{}}},"spec":{{}},"status":{}}})",
                    revision, labels, status));
  }
};

TEST_F(EndpointController, APodOfTheSelectorEntersAndLeaves) {
  show_pod("ADDED", 5, R"({"set":"x"})", R"({"podIP":"10.0.0.1"})");
  EXPECT_THAT(server_.waiting(),
              ElementsAre("PATCH /apis/discovery.k8s.io/v1/namespaces/d/endpointslices/x-1"));
  server_.answer_object("x-1", 6);
  show_slice("MODIFIED", 6, R"({"addresses":["10.0.0.1"],"targetRef":{"name":"p","uid":"u-p"},
      "conditions":{"ready":false,"serving":false,"terminating":false}})");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  show_pod("MODIFIED", 7, R"({"set":"other"})", R"({"podIP":"10.0.0.1"})");
  EXPECT_THAT(server_.waiting(),
              ElementsAre("PATCH /apis/discovery.k8s.io/v1/namespaces/d/endpointslices/x-1"));
}

TEST_F(EndpointController, OtherPodsAndOtherChangesAreNoneOfItsBusiness) {
  show_pod("ADDED", 5, R"({"set":"other"})", R"({"podIP":"10.0.0.1"})");
  show_pod("MODIFIED", 6, R"({"set":"other"})",
           R"({"podIP":"10.0.0.1","startTime":"2027-01-15T08:00:00Z"})");
  EXPECT_THAT(server_.waiting(), IsEmpty());
}

TEST_F(EndpointController, AServiceThatSelectsOthersThanBeforeListsThem) {
  show_pod("ADDED", 5, R"({"set":"other"})", R"({"podIP":"10.0.0.1"})");
  server_.show(kServices, "MODIFIED",
               R"({"metadata":{"namespace":"d","name":"x","uid":"u-x","resourceVersion":"6"},
        "spec":{"clusterIP":"None","selector":{"set":"other"}}})");
  EXPECT_THAT(server_.waiting(),
              ElementsAre("PATCH /apis/discovery.k8s.io/v1/namespaces/d/endpointslices/x-1"))
      << "its own slice, and no new one";
}

TEST_F(EndpointController, ASliceThatSomebodyTookAwayIsMadeAgain) {
  server_.show(
      kSlices, "DELETED",
      R"({"metadata":{"namespace":"d","name":"x-1","uid":"u-x-1","resourceVersion":"5"}})");
  EXPECT_THAT(server_.waiting(),
              ElementsAre("POST /apis/discovery.k8s.io/v1/namespaces/d/endpointslices"));
}

}  // namespace controller_test
}  // namespace muster::controllers::endpoints
