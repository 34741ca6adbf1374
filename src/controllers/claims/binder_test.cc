#include "controllers/claims/binder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "controllers/runtime/testing.h"
#include "json/testing.h"

namespace muster::controllers::claims {
namespace binder_test {

using json::IsJson;
using json::Tree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const api::Resource& kind() { return testing::resource("v1", "PersistentVolumeClaim"); }

std::string claim(std::string_view spec, std::string_view phase = "Pending",
                  std::string_view metadata = "") {
  return fmt::format(
      R"({{"metadata":{{"namespace":"d","name":"c","uid":"u","resourceVersion":"7"{}}},"spec":{{)"
      R"("accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"1Gi"}}}}{}}},)"
      R"("status":{{"phase":"{}"}}}})",
      metadata, spec, phase);
}
Plan bound(const std::string& text) { return bind(kind(), read_unbound_claim(Tree(text))); }

TEST(Binding, NamesTheVolumeFirst) {
  for (const char* spec : {"", R"(,"storageClassName":"")", R"(,"storageClassName":"muster")"}) {
    const auto writes = bound(claim(spec)).operations();
    ASSERT_EQ(writes.size(), 1u) << spec;
    EXPECT_EQ(writes[0].subresource, "");
    EXPECT_THAT(Tree(writes[0].body.text()).root,
                IsJson(R"({"spec":{"volumeName":"pvc-u"},"metadata":{
        "uid":"u","resourceVersion":"7","annotations":{"pv.kubernetes.io/bind-completed":"yes",
        "pv.kubernetes.io/bound-by-controller":"yes"}}})"));
  }
}

TEST(Binding, IsCompleteWhenTheStatusSaysWhatThereIs) {
  const auto writes = bound(claim(R"(,"volumeName":"pvc-u")")).operations();
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].subresource, "status");
  EXPECT_THAT(Tree(writes[0].body.text()).root,
              IsJson(R"({"metadata":{"uid":"u","resourceVersion":"7"},
      "status":{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}})"));
  EXPECT_FALSE(bound(claim(R"(,"volumeName":"pvc-u")", "Bound")).has_writes());
}

TEST(Binding, LeavesAloneWhatIsNotForIt) {
  EXPECT_FALSE(bound(claim(R"(,"volumeName":"disk-7")")).has_writes());
  EXPECT_FALSE(bound(claim("", "Lost")).has_writes());
  EXPECT_FALSE(
      bound(claim("", "Pending", R"(,"deletionTimestamp":"2030-01-01T00:00:00Z")")).has_writes());
}

TEST(Binding, SaysWhyAClaimOfAnotherClassWaits) {
  const Plan plan = bound(claim(R"(,"storageClassName":"fast")"));
  EXPECT_FALSE(plan.has_writes());
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, "ProvisioningFailed");
  EXPECT_THAT(plan.events[0].message, HasSubstr("this claim asks for \"fast\""));
}

class BinderTest : public controllers::testing::ControllerTest<Binder> {};

TEST_F(BinderTest, BindsInTwoSteps) {
  const std::string claims = "/api/v1/persistentvolumeclaims";
  informers_.start();
  server_.settle();
  server_.show(claims, "ADDED", claim(""));
  server_.show_complete(claims, 7);
  EXPECT_THAT(server_.waiting(),
              ElementsAre("PATCH /api/v1/namespaces/d/persistentvolumeclaims/c"));
  server_.answer_object("c", 8);
  EXPECT_THAT(server_.waiting(), IsEmpty());
  server_.show(claims, "MODIFIED",
               R"({"metadata":{"namespace":"d","name":"c","uid":"u","resourceVersion":"8"},)"
               R"("spec":{"volumeName":"pvc-u"},"status":{"phase":"Pending"}})");
  EXPECT_THAT(server_.waiting(),
              ElementsAre("PATCH /api/v1/namespaces/d/persistentvolumeclaims/c/status"));
}

}  // namespace binder_test
}  // namespace muster::controllers::claims
