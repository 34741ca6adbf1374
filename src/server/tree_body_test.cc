// A caller in this process hands over trees instead of text: the answers, the warnings and what is
// stored are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "json/document.h"
#include "server/testing.h"

namespace muster::server {
namespace tree_body_test {

using testing::TestExchange;
using testing::TestExchangePtr;
using testing::TestServer;

const std::string kMaps = "/api/v1/namespaces/a/configmaps";
const std::string kPodsHere = "/api/v1/namespaces/a/pods";
const std::string kSets = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/a/jobsets";

struct Step {
  std::string method;
  std::string target;
  std::string body;
  std::string type = "json";
};

// Each kind of write, with and without faults, in an order in which they build on each other.
const std::vector<Step>& steps() {
  static const std::vector<Step> steps = {
      {"POST", kMaps, R"({"metadata":{"name":"c"},"data":{"k":"v"}})"},
      {"POST", kMaps, R"({"metadata":{"name":"c"}})"},
      {"POST", kMaps, R"({"metadata":{"generateName":"g-"},"data":{"é\u2028<":"\u0001"}})"},
      {"POST", kMaps + "?dryRun=All", R"({"metadata":{"name":"dry"}})"},
      {"POST", kMaps, R"({"metadata":{"name":"c","namespace":"b"}})"},
      {"POST", kMaps, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"d"}})"},
      {"POST", kMaps, R"({"kind":"Nosuch","apiVersion":"v1","metadata":{"name":"d"}})"},
      {"POST", kMaps, R"({"kind":5,"metadata":{"name":"d"}})"},
      {"POST", kMaps, R"({"metadata":{"name":"d"},"data":{"k":5}})"},
      {"POST", kMaps, R"({"metadata":{"name":"d"},"nosuch":{"k":5}})"},
      {"POST", kMaps + "?fieldValidation=Strict", R"({"metadata":{"name":"e"},"nosuch":1.5})"},
      {"POST", kMaps, R"([1])"},
      {"POST", kMaps, R"("text")"},
      {"POST", kMaps, "null"},
      {"POST", kMaps, R"({"metadata":{"name":"No Name"}})"},
      {"PUT", kMaps + "/c", R"({"metadata":{"name":"c"},"data":{"k":"w","n":"1"}})"},
      {"PUT", kMaps + "/c", R"({"metadata":{"name":"c","resourceVersion":"1"}})"},
      {"PUT", kMaps + "/c", R"({"metadata":{"name":"other"}})"},
      {"PUT", kMaps + "/c", R"({"metadata":{"name":"c","uid":"no"}})"},
      {"PATCH", kMaps + "/c", R"({"data":{"k":null,"m":"x"}})", "merge-patch+json"},
      {"PATCH", kMaps + "/c", R"({"data":{"m":"x"}})", "merge-patch+json"},
      {"PATCH", kMaps + "/c", R"({"data":{"m":7},"nosuch":true})", "merge-patch+json"},
      {"PATCH", kMaps + "/c", "[]", "merge-patch+json"},
      {"PATCH", kMaps + "/c", R"([{"op":"add","path":"/data/j","value":"p"}])", "json-patch+json"},
      {"PATCH", kMaps + "/c", R"([{"op":"test","path":"/data/j","value":"q"}])", "json-patch+json"},
      {"PATCH", kMaps + "/c", R"([{"op":"add","path":"/data/j","value":"p","more":1}])",
       "json-patch+json"},
      {"PATCH", kMaps + "/c", R"({"op":"add"})", "json-patch+json"},
      {"PATCH", kMaps + "/c", R"({"metadata":{"finalizers":["x.io/f"]}})",
       "strategic-merge-patch+json"},
      {"PATCH", kMaps + "/c", R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x.io/f"]}})",
       "strategic-merge-patch+json"},
      {"PATCH", kMaps + "/c", R"({"metadata":{"finalizers":7}})", "strategic-merge-patch+json"},
      {"PATCH", kMaps + "/c?fieldManager=m&force=true",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":"applied"}})",
       "apply-patch+yaml"},
      {"PATCH", kMaps + "/made?fieldManager=m",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"made"},"data":{"k":"applied"}})",
       "apply-patch+yaml"},
      {"PATCH", kMaps + "/c?fieldManager=other",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":"mine"}})",
       "apply-patch+yaml"},
      {"PATCH", kMaps + "/c?fieldManager=m", R"(["no object"])", "apply-patch+yaml"},
      {"PATCH", kMaps + "/nosuch", R"({"data":{}})", "merge-patch+json"},
      {"PATCH", kMaps + "/c", R"({"data":{}})", "nosuch"},
      {"POST", kPodsHere,
       R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",)"
       R"("resources":{"requests":{"cpu":0.5,"memory":1073741824}}}]}})"},
      {"POST", kPodsHere, R"({"metadata":{"name":"q"},"spec":{"containers":[]}})"},
      {"POST", kPodsHere + "/p/binding", R"({"target":{"kind":"Node","name":"n1"}})"},
      {"POST", kPodsHere + "/p/binding", R"({"target":{"kind":"Node","name":"n2"}})"},
      {"POST", kPodsHere + "/p/binding", R"({"target":{"kind":"Pod"}})"},
      {"PATCH", kPodsHere + "/p/status",
       R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
       "strategic-merge-patch+json"},
      {"PATCH", kPodsHere + "/p/status", R"({"status":{"phase":"Running"}})",
       "strategic-merge-patch+json"},
      {"PUT", kPodsHere + "/p/status", R"({"metadata":{"name":"p"},"status":{"phase":"Failed"}})"},
      {"POST", kPodsHere + "/p/eviction", R"({"metadata":{"name":"p"}})"},
      {"POST", kPodsHere + "/p/eviction", R"({"metadata":{"name":"other"}})"},
      {"POST", kSets,
       R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"s"},)"
       R"("spec":{"replicatedJobs":[{"name":"w","replicas":2,"template":{"spec":{"template":{"spec":)"
       R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}]}})"},
      {"POST", kSets, R"({"metadata":{"name":"t"}})"},
      {"POST", kSets,
       R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"Other","metadata":{"name":"t"}})"},
      {"POST", kSets,
       R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"t"},)"
       R"("spec":{"replicatedJobs":[{"name":"w","replicas":2.5}]}})"},
      {"PATCH", kSets + "/s/status", R"({"status":{"restarts":1}})", "merge-patch+json"},
      {"PATCH", kSets + "/s", R"({"spec":{"suspend":true,"nosuch":1}})", "merge-patch+json"},
      {"POST", "/apis/apps/v1/namespaces/a/deployments",
       R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":)"
       R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})"},
      {"PUT", "/apis/apps/v1/namespaces/a/deployments/d/scale",
       R"({"metadata":{"name":"d","namespace":"a"},"spec":{"replicas":3}})"},
      {"PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", R"({"spec":{"replicas":4}})",
       "merge-patch+json"},
      {"PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale?fieldManager=m&force=true",
       R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},)"
       R"("spec":{"replicas":5}})",
       "apply-patch+yaml"},
      {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
       R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})"},
      {"DELETE", kMaps + "/c", R"({"preconditions":{"uid":"no"}})"},
      {"DELETE", kMaps + "/c", R"({"propagationPolicy":"Nosuch"})"},
      {"DELETE", kMaps + "/c", R"({"gracePeriodSeconds":"x"})"},
      {"DELETE", kMaps + "/c", R"({"propagationPolicy":"Foreground"})"},
      {"DELETE", kMaps + "/made", R"({"kind":"DeleteOptions","apiVersion":"v1"})"},
      {"DELETE", kPodsHere + "/p", R"({"gracePeriodSeconds":0})"},
      {"DELETE", kMaps, R"({"propagationPolicy":"Background"})"},
      {"POST", "/nosuch", R"({})"},
  };
  return steps;
}

http::Headers headers_of(const Step& step) {
  return {{"Content-Type", "application/" + step.type}, {"User-Agent", "controller/1.0"}};
}

TestExchangePtr ask(TestServer& server, http::Request request) {
  auto exchange = std::make_shared<TestExchange>(std::move(request));
  server.api->handle_as(exchange, master("controller"));
  return exchange;
}

TestExchangePtr by_text(TestServer& server, const Step& step) {
  return ask(server, {step.method, step.target, headers_of(step), step.body, {}});
}

TestExchangePtr by_tree(TestServer& server, const Step& step) {
  json::Arena arena;
  const json::Value tree = json::parse(arena, step.body).value();
  return ask(server, {.method = step.method,
                      .target = step.target,
                      .headers = headers_of(step),
                      .body = {},
                      .peer = {},
                      .document = json::Document::of(tree)});
}

std::vector<std::string> warnings_of(const TestExchange& exchange) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : exchange.headers) {
    if (name == "Warning") warnings.push_back(value);
  }
  return warnings;
}

TEST(TreeBody, HasTheResultOfItsTextForEveryKindOfWrite) {
  TestServer texts(Options{.seed = 1}), trees(Options{.seed = 1});
  texts.make_namespace("a");
  trees.make_namespace("a");
  std::set<int> statuses;
  for (const Step& step : steps()) {
    SCOPED_TRACE(step.method + " " + step.target + " " + step.body);
    const TestExchangePtr text = by_text(texts, step), tree = by_tree(trees, step);
    EXPECT_EQ(tree->status, text->status);
    EXPECT_EQ(tree->body, text->body);
    EXPECT_EQ(warnings_of(*tree), warnings_of(*text));
    statuses.insert(text->status);
  }
  EXPECT_EQ(trees.store->snapshot()->revision(), texts.store->snapshot()->revision());
  EXPECT_THAT(statuses, ::testing::IsSupersetOf({200, 201, 400, 404, 409, 415, 422, 500}))
      << "the table has faults of all kinds";
}

// A plan that is overtaken is made again of the same tree.
TEST(TreeBody, IsNotUsedUpByAnAttempt) {
  TestServer server;
  server.make_namespace("a");
  const Step create{"POST", kMaps, R"({"metadata":{"generateName":"c-"},"data":{"k":"v"}})"};
  json::Arena arena;
  const auto document = json::Document::of(json::parse(arena, create.body).value());
  for (int i = 0; i < 2; ++i) {
    const auto made = ask(server, {.method = create.method,
                                   .target = create.target,
                                   .headers = headers_of(create),
                                   .body = {},
                                   .peer = {},
                                   .document = document});
    EXPECT_EQ(made->status, 201) << made->body;
  }
  EXPECT_EQ(json::write(document->root()), create.body);
}

TEST(StoredAnswer, IsHandedOverIfTheAnswerShowsItAsItIs) {
  TestServer server;
  server.make_namespace("a");
  const auto made = server.admin("POST", kMaps, R"({"metadata":{"name":"c"}})");
  ASSERT_NE(made->object, nullptr);
  EXPECT_EQ(made->object->bytes() + "\n", made->body);
  const auto changed = server.patch(kMaps + "/c", R"({"data":{"k":"v"}})");
  ASSERT_NE(changed->object, nullptr);
  EXPECT_EQ(changed->object->bytes() + "\n", changed->body);

  EXPECT_EQ(server.admin("POST", kMaps, R"({"metadata":{"name":"c"}})")->object, nullptr);
  EXPECT_EQ(server.patch(kMaps + "/c?pretty=1", R"({"data":{"k":"x"}})")->object, nullptr);
  const auto yaml =
      server.admin("POST", kMaps, R"({"metadata":{"name":"y"}})", {{"Accept", "application/yaml"}});
  EXPECT_EQ(yaml->status, 201);
  EXPECT_EQ(yaml->object, nullptr);
  const auto partial =
      server.admin("POST", kMaps, R"({"metadata":{"name":"m"}})",
                   {{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(partial->status, 201);
  EXPECT_EQ(partial->object, nullptr);
}

}  // namespace tree_body_test
}  // namespace muster::server
