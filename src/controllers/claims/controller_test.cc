#include "controllers/claims/controller.h"

#include <gmock/gmock.h>

#include "controllers/runtime/testing.h"

namespace muster::controllers::claims {
namespace controller_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kClaims = "/api/v1/persistentvolumeclaims";
const std::string kPods = "/api/v1/pods";
const std::string kRelease = "PATCH /api/v1/namespaces/d/persistentvolumeclaims/c";

class ClaimController : public controllers::testing::ControllerTest<Controller> {
 protected:
  ClaimController() {
    informers_.start();
    server_.complete_all(1);
  }
  void show_pod(std::string_view type, std::string_view uid, std::string_view phase) {
    server_.show(
        kPods, type,
        fmt::format(
            R"({{"metadata":{{"namespace":"d","name":"p","uid":"{}","resourceVersion":"{}"}},
            "spec":{{"volumes":[{{"persistentVolumeClaim":{{"claimName":"c"}}}},
                                {{"persistentVolumeClaim":{{"claimName":"c"}}}}]}},
            "status":{{"phase":"{}"}}}})",
            uid, ++revision_, phase));
  }
  void show_deleted_claim() {
    server_.show(
        kClaims, "ADDED",
        fmt::format(R"({{"metadata":{{"namespace":"d","name":"c","uid":"u-c","resourceVersion":"{}",
            "deletionTimestamp":"2030-01-01T00:00:00Z",
            "finalizers":["kubernetes.io/pvc-protection"]}}}})",
                    ++revision_));
  }

  int revision_ = 1;
};

TEST_F(ClaimController, AClaimGoesWithTheEndOfTheLastPodThatUsesIt) {
  show_pod("ADDED", "first", "Running");
  show_deleted_claim();
  EXPECT_THAT(server_.waiting(), IsEmpty());
  show_pod("MODIFIED", "first", "Running");
  EXPECT_THAT(server_.waiting(), IsEmpty());
  show_pod("MODIFIED", "first", "Succeeded");
  EXPECT_THAT(server_.waiting(), ElementsAre(kRelease));
}

TEST_F(ClaimController, APodThatIsGoneUsesNothing) {
  show_pod("ADDED", "first", "Running");
  show_deleted_claim();
  show_pod("DELETED", "first", "Running");
  EXPECT_THAT(server_.waiting(), ElementsAre(kRelease));
}

TEST_F(ClaimController, APodThatTookTheNameOfAnotherDoesNotKeepTheOtherAlive) {
  show_pod("ADDED", "first", "Running");
  show_pod("MODIFIED", "second", "Running");  // as after a watch that was cut
  show_deleted_claim();
  EXPECT_THAT(server_.waiting(), IsEmpty());
  show_pod("DELETED", "second", "Running");
  EXPECT_THAT(server_.waiting(), ElementsAre(kRelease));
}

}  // namespace controller_test
}  // namespace muster::controllers::claims
