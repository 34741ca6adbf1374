#include "cli/input/kind_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace kind_catalog_test {

using testing::HasSubstr;

// A server with one definition of another vendor, in two versions, and Kueue's queues in one that
// this binary would not choose.
constexpr std::string_view kDiscovery = R"({
  "kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"stable.example.com"},"versions":[
    {"version":"v1","resources":[{"resource":"crontabs","singularResource":"crontab",
      "responseKind":{"group":"stable.example.com","version":"v1","kind":"CronTab"},
      "scope":"Namespaced","shortNames":["ct"],"verbs":["get","list"]}]},
    {"version":"v1beta1","resources":[{"resource":"crontabs","singularResource":"crontab",
      "responseKind":{"kind":"CronTab"},"scope":"Namespaced","verbs":["get"]},
      {"resource":"sites","responseKind":{"kind":"Site"},"scope":"Cluster","verbs":["get"]}]}]},
  {"metadata":{"name":"kueue.x-k8s.io"},"versions":[
    {"version":"v1beta1","resources":[{"resource":"localqueues","singularResource":"localqueue",
      "responseKind":{"kind":"LocalQueue"},"scope":"Namespaced","verbs":["get"]}]}]}]})";

class Catalog : public testing::Test {
 protected:
  std::string found(std::string_view word) { return text(kinds_.find(word)); }
  std::string found_kind(std::string_view api_version, std::string_view kind) {
    return text(kinds_.find_kind(api_version, kind));
  }
  static std::string text(const Result<const api::Resource*>& found) {
    if (!found) return found.error().message;
    return (*found)->gvk.api_version() + " " + (*found)->plural +
           ((*found)->namespaced ? "" : " of the cluster");
  }

  int asked_ = 0;
  KindCatalog kinds_{[this]() -> Result<std::string> {
    ++asked_;
    return std::string(kDiscovery);
  }};
};

TEST_F(Catalog, DoesNotAskForWhatIsTheSameEverywhere) {
  EXPECT_EQ(found("po"), "v1 pods");
  EXPECT_EQ(found("Jobs.v1.batch"), "batch/v1 jobs");
  EXPECT_EQ(found("js"), "jobset.x-k8s.io/v1alpha2 jobsets");
  EXPECT_EQ(found_kind("apps/v1", "Deployment"), "apps/v1 deployments");
  EXPECT_EQ(asked_, 0);
}

TEST_F(Catalog, AsksTheServerOnceForEverythingElse) {
  for (const std::string_view word : {"ct", "crontab", "CronTabs", "crontabs.stable.example.com"})
    EXPECT_EQ(found(word), "stable.example.com/v1 crontabs") << word;
  EXPECT_EQ(found("crontabs.v1beta1.stable.example.com"), "stable.example.com/v1beta1 crontabs");
  EXPECT_EQ(found("site"), "stable.example.com/v1beta1 sites of the cluster");
  EXPECT_EQ(found_kind("stable.example.com/v1beta1", "Site"),
            "stable.example.com/v1beta1 sites of the cluster");
  EXPECT_EQ(found("lq"), "kueue.x-k8s.io/v1beta1 localqueues") << "the version that is served";
  EXPECT_EQ(asked_, 1);
}

TEST_F(Catalog, GuessesAmongTheServersKinds) {
  EXPECT_EQ(found("crontbas"), "there is no kind \"crontbas\"; did you mean \"crontabs\"?");
  EXPECT_THAT(found_kind("stable.example.com/v2", "CronTab"),
              HasSubstr("did you mean \"stable.example.com/v1\"?"));
  EXPECT_THAT(found("clusterqueues"), HasSubstr("there is no kind")) << "not served here";
}

TEST(CatalogOfAnOldServer, SaysThatItIsOld) {
  KindCatalog kinds([]() -> Result<std::string> { return R"({"kind":"APIGroupList"})"; });
  EXPECT_TRUE(kinds.find("pods"));
  EXPECT_THAT(kinds.find("crontabs").error().message, HasSubstr("older than Kubernetes 1.26"));
}

TEST(CatalogWithoutAServer, HasTheKindsOfThisBinary) {
  KindCatalog kinds;
  EXPECT_EQ((*kinds.find("cq"))->gvk.api_version(), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ((*kinds.find("workloads"))->gvk.group, "kueue.x-k8s.io") << "preferred versions first";
}

}  // namespace kind_catalog_test
}  // namespace muster::cli
