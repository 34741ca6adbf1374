// get and list: versions, pages, selectors, forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace read_test {

using testing::at;
using ::testing::ElementsAre;
using testing::TestExchangePtr;
using testing::TestServer;

std::vector<std::string> names(const testing::TestExchange& list) {
  json::Arena arena;
  std::vector<std::string> out;
  for (const json::Value item : list.json(arena).get("items").items()) {
    out.emplace_back(item.get({"metadata", "name"}).as_string());
  }
  return out;
}

class Read : public ::testing::Test {
 protected:
  Read() {
    server.make_namespace("a");
    for (const char* name : {"c0", "c1", "c2", "c3", "c4"}) make(name);
  }
  TestExchangePtr make(const std::string& name, const std::string& labels = "{}") {
    return server.admin("POST", kMaps,
                        R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}");
  }
  TestExchangePtr get(const std::string& target, http::Headers headers = {}) {
    return server.admin("GET", target, "", std::move(headers));
  }
  TestExchangePtr list(const std::string& query) { return get(std::string(kMaps) + query); }

  static constexpr const char* kMaps = "/api/v1/namespaces/a/configmaps";
  TestServer server;
};

TEST_F(Read, AListIsMadeOfTheStoredTextWithoutTheTypeOfItsItems) {
  const TestExchangePtr all = list("");
  EXPECT_EQ(at(*all, {"kind"}), "ConfigMapList");
  EXPECT_THAT(names(*all), ElementsAre("c0", "c1", "c2", "c3", "c4"));
  EXPECT_NE(all->body.find(R"("items":[{"metadata":{"name":"c0")"), std::string::npos);
  EXPECT_EQ(at(*all, {"metadata", "resourceVersion"}),
            std::to_string(server.store->snapshot()->revision()));
}

TEST_F(Read, AnEmptyListHasItems) {
  EXPECT_NE(get("/api/v1/namespaces/a/pods")->body.find(R"("items":[]})"), std::string::npos);
}

TEST_F(Read, PagesShowOneStateHoweverItChangesMeanwhile) {
  const TestExchangePtr first = list("?limit=2");
  EXPECT_THAT(names(*first), ElementsAre("c0", "c1"));
  EXPECT_EQ(at(*first, {"metadata", "remainingItemCount"}), "3");
  make("c11");
  server.admin("DELETE", std::string(kMaps) + "/c3");

  const TestExchangePtr second = list("?limit=2&continue=" + at(*first, {"metadata", "continue"}));
  EXPECT_THAT(names(*second), ElementsAre("c2", "c3"));
  EXPECT_EQ(at(*second, {"metadata", "remainingItemCount"}), "1");
  EXPECT_EQ(at(*second, {"metadata", "resourceVersion"}),
            at(*first, {"metadata", "resourceVersion"}));

  const TestExchangePtr last = list("?limit=2&continue=" + at(*second, {"metadata", "continue"}));
  EXPECT_THAT(names(*last), ElementsAre("c4"));
  EXPECT_EQ(at(*last, {"metadata", "continue"}), "null");
}

TEST_F(Read, AnExpiredPageOffersToGoOnAtTheNewestState) {
  const TestExchangePtr first = list("?limit=2");
  make("c9");
  server.store->compact();
  const TestExchangePtr expired = list("?limit=2&continue=" + at(*first, {"metadata", "continue"}));
  EXPECT_EQ(expired->status, 410);
  EXPECT_EQ(at(*expired, {"reason"}), "Expired");
  const TestExchangePtr inconsistent = list("?continue=" + at(*expired, {"metadata", "continue"}));
  EXPECT_THAT(names(*inconsistent), ElementsAre("c2", "c3", "c4", "c9"));
}

TEST_F(Read, PagesCrossNamespacesInOrder) {
  server.make_namespace("b");
  server.admin("POST", "/api/v1/namespaces/b/configmaps", R"({"metadata":{"name":"c0"}})");
  std::vector<std::string> seen;
  std::string token;
  do {
    const TestExchangePtr page =
        get("/api/v1/configmaps?limit=1" + (token.empty() ? "" : "&continue=" + token));
    json::Arena arena;
    const json::Value item = page->json(arena).get("items").item(0);
    seen.push_back(fmt::format("{}/{}", item.get({"metadata", "namespace"}).as_string(),
                               item.get({"metadata", "name"}).as_string()));
    token = at(*page, {"metadata", "continue"});
  } while (token != "null");
  EXPECT_THAT(seen, ElementsAre("a/c0", "a/c1", "a/c2", "a/c3", "a/c4", "b/c0"));
}

TEST_F(Read, VersionsMeanWhatTheyMeanUpstream) {
  const std::string then = at(*list(""), {"metadata", "resourceVersion"});
  make("d");
  EXPECT_EQ(names(*list("?resourceVersion=0&limit=2")).size(), 6u) << "limit is ignored";
  EXPECT_EQ(names(*list("?resourceVersion=" + then)).size(), 6u) << "not older than";
  EXPECT_EQ(names(*list("?resourceVersionMatch=Exact&resourceVersion=" + then)).size(), 5u);
  EXPECT_EQ(list("?resourceVersion=abc")->status, 400);
  EXPECT_EQ(server.admin("DELETE", "/api/v1/namespaces/a/configmaps?resourceVersion=abc")->status,
            400)
      << "a collection is listed before it is deleted";
  const TestExchangePtr one = list("/c0?resourceVersion=abc");
  EXPECT_EQ(one->status, 500);
  EXPECT_EQ(
      at(*one, {"message"}),
      R"(resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax)");
  EXPECT_EQ(list("?resourceVersionMatch=Exact")->status, 422);
  EXPECT_EQ(list("?resourceVersionMatch=Exact&resourceVersion=0")->status, 422);
}

TEST_F(Read, AVersionOfTheFutureIsWaitedForInVain) {
  for (const char* target : {"?resourceVersion=99999", "/c0?resourceVersion=99999"}) {
    const TestExchangePtr waiting = list(target);
    EXPECT_EQ(waiting->status, 0);
    EXPECT_EQ(waiting->timer_delay, std::chrono::seconds(3));
    waiting->fire();
    EXPECT_EQ(waiting->status, 504);
    EXPECT_EQ(at(*waiting, {"reason"}), "Timeout");
    EXPECT_EQ(at(*waiting, {"details", "retryAfterSeconds"}), "1");
  }
}

TEST_F(Read, SelectorsChooseByLabelsAndFields) {
  make("l1", R"({"app":"x"})");
  make("l2", R"({"app":"y"})");
  EXPECT_THAT(names(*list("?labelSelector=app")), ElementsAre("l1", "l2"));
  EXPECT_THAT(names(*list("?labelSelector=app%21%3Dx,app")), ElementsAre("l2"));
  EXPECT_THAT(names(*list("?fieldSelector=metadata.name%3Dc3")), ElementsAre("c3"));
  EXPECT_EQ(list("?fieldSelector=data.k%3D1")->status, 400);
  EXPECT_EQ(list("?labelSelector=%3Dx")->status, 400);
}

TEST_F(Read, APageWithASelectorReadsOnUntilItIsFull) {
  make("l1", R"({"app":"x"})");
  make("l2", R"({"app":"x"})");
  const TestExchangePtr page = list("?labelSelector=app&limit=1");
  EXPECT_THAT(names(*page), ElementsAre("l1"));
  EXPECT_NE(at(*page, {"metadata", "continue"}), "null");
  EXPECT_EQ(at(*page, {"metadata", "remainingItemCount"}), "null") << "nobody has counted";
}

TEST_F(Read, FormsOfAnObject) {
  const std::string one = std::string(kMaps) + "/c0";
  const TestExchangePtr partial =
      get(one, {{"Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}});
  EXPECT_EQ(at(*partial, {"kind"}), "PartialObjectMetadata");
  EXPECT_EQ(at(*partial, {"metadata", "name"}), "c0");

  const TestExchangePtr table =
      get(one, {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  json::Arena arena;
  const json::Value tree = table->json(arena);
  EXPECT_EQ(tree.get("columnDefinitions").item(0).get("name").as_string(), "Name");
  EXPECT_EQ(json::write(tree.get("rows").item(0).get("cells")), R"(["c0",0,"0s"])");
  EXPECT_EQ(tree.get("rows").item(0).get({"object", "kind"}).as_string(), "PartialObjectMetadata");

  const TestExchangePtr yaml = get(one, {{"Accept", "application/yaml"}});
  EXPECT_TRUE(yaml->body.starts_with("apiVersion: v1\nkind: ConfigMap\nmetadata:\n")) << yaml->body;
  EXPECT_EQ(http::find_header(yaml->headers, "Content-Type"), "application/yaml");

  const TestExchangePtr pretty = get(one + "?pretty=true");
  EXPECT_TRUE(pretty->body.starts_with("{\n  \"kind\": \"ConfigMap\"")) << pretty->body;
  EXPECT_EQ(get(one, {{"Accept", "text/html"}})->status, 406);
}

TEST_F(Read, CustomResourcesListAlphabeticallyAndWithTheirType) {
  server.admin(
      "POST", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors",
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}})");
  const TestExchangePtr flavors = get("/apis/kueue.x-k8s.io/v1beta2/resourceflavors");
  EXPECT_TRUE(flavors->body.starts_with(
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","items":[{"apiVersion":)"))
      << flavors->body;
  EXPECT_EQ(at(*flavors, {"metadata", "continue"}), "");
}

TEST_F(Read, EveryAnswerCanBeFoundInTheAudit) {
  EXPECT_EQ(http::find_header(list("")->headers, "Audit-Id").size(), 36u);
}

}  // namespace read_test
}  // namespace muster::server
