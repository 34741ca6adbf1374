// Paths that are about no object, and requests that reach no handler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/bootstrap.h"
#include "server/testing.h"

namespace muster::server {
namespace general_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

TEST(General, HealthIsOkUntilItIsNot) {
  TestServer server;
  EXPECT_EQ(server.admin("GET", "/readyz")->body, "ok");
  EXPECT_EQ(server.admin("GET", "/livez/ping")->body, "ok");
  EXPECT_EQ(server.admin("GET", "/livez?verbose")->body,
            "[+]ping ok\n[+]store ok\nlivez check passed\n");
  server.api->set_not_ready("certificates are being made");
  const TestExchangePtr ready = server.admin("GET", "/readyz");
  EXPECT_EQ(ready->status, 500);
  EXPECT_THAT(ready->body, ::testing::HasSubstr("[-]startup failed: certificates are being made"));
  EXPECT_EQ(server.admin("GET", "/livez")->status, 200);
  EXPECT_EQ(server.admin("GET", "/readyz?exclude=startup")->status, 200);
  EXPECT_EQ(server.admin("GET", "/livez/nosuch")->status, 404);
}

TEST(General, TheVersionIsOneThatClientsUnderstand) {
  TestServer server;
  EXPECT_EQ(at(*server.admin("GET", "/version"), {"gitVersion"}), "v1.36.3+muster");
  EXPECT_EQ(at(*server.admin("GET", "/version"), {"minor"}), "36");
}

TEST(General, DiscoveryComesInBothForms) {
  TestServer server;
  EXPECT_EQ(at(*server.admin("GET", "/apis"), {"kind"}), "APIGroupList");
  EXPECT_EQ(at(*server.admin("GET", "/apis/batch/v1"), {"kind"}), "APIResourceList");
  const http::Headers aggregated{
      {"Accept",
       "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}};
  const TestExchangePtr v2 = server.admin("GET", "/apis", "", aggregated);
  EXPECT_EQ(at(*v2, {"kind"}), "APIGroupDiscoveryList");
  EXPECT_EQ(http::find_header(v2->headers, "Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  http::Headers again = aggregated;
  again.emplace_back("If-None-Match", http::find_header(v2->headers, "Etag"));
  EXPECT_EQ(server.admin("GET", "/apis", "", again)->status, 304);
}

TEST(General, TheOldFormOfApiNamesTheAddressOnceItIsKnown) {
  TestServer server;
  server.api->set_server_address("127.0.0.1:40000");
  EXPECT_EQ(server.admin("GET", "/api")->body,
            R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":)"
            R"([{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:40000"}]})");
}

TEST(General, OpenApiDocumentsAreFoundByTheirHash) {
  TestServer server;
  json::Arena arena;
  const json::Value index = server.admin("GET", "/openapi/v3")->json(arena);
  const std::string url(index.get({"paths", "apis/batch/v1", "serverRelativeURL"}).as_string());
  EXPECT_EQ(server.admin("GET", url)->status, 200);
  const TestExchangePtr stale = server.admin("GET", "/openapi/v3/apis/batch/v1?hash=OLD");
  EXPECT_EQ(stale->status, 301);
  EXPECT_EQ(http::find_header(stale->headers, "Location"), url);
}

TEST(General, OpenApiV2ComesAsJsonOrProtobuf) {
  TestServer server;
  const auto get = [&](const char* accept) {
    return server.admin("GET", "/openapi/v2", "", {{"Accept", accept}});
  };
  EXPECT_EQ(at(*server.admin("GET", "/openapi/v2"), {"swagger"}), "2.0");
  EXPECT_EQ(at(*get("text/html, application/json;q=0.5"), {"swagger"}), "2.0");
  // As kubectl asks.
  const TestExchangePtr protobuf =
      get("application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  EXPECT_EQ(protobuf->status, 200);
  EXPECT_EQ(http::find_header(protobuf->headers, "Content-Type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_THAT(protobuf->body, ::testing::StartsWith("\n\x03"
                                                    "2.0"));
  const std::string etag(http::find_header(protobuf->headers, "Etag"));
  EXPECT_EQ(server
                .admin("GET", "/openapi/v2", "",
                       {{"Accept", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
                        {"If-None-Match", etag}})
                ->status,
            304);
  EXPECT_EQ(get("text/plain")->status, 406);
}

TEST(General, WhatIsNotServedIsNotFound) {
  TestServer server;
  EXPECT_EQ(server.admin("GET", "/nosuch")->body, "404 page not found\n");
  EXPECT_EQ(server.admin("GET", "/apis/nosuch.example.com/v1/things")->body,
            "404 page not found\n");
  EXPECT_EQ(at(*server.admin("GET", "/apis/batch/v9/jobs"), {"message"}),
            "the server could not find the requested resource");
  EXPECT_EQ(server.admin("GET", "/api/v1/namespaces/a/nosuch")->status, 404);
  EXPECT_EQ(server.admin("GET", "/api/v1/pods/p")->status, 404) << "pods live in namespaces";
  EXPECT_EQ(server.admin("GET", "/api/v1/namespaces/a/nodes")->status, 404) << "nodes do not";
  EXPECT_EQ(server.admin("PUT", "/api/v1/namespaces/a/configmaps")->status, 405);
  EXPECT_EQ(server.admin("POST", "/api/v1/namespaces/a/configmaps/c")->status, 405);
  EXPECT_EQ(server.admin("POST", "/api/v1/configmaps")->status, 405);
  EXPECT_EQ(server.admin("DELETE", "/version")->status, 405);
}

TEST(General, WhatCannotBeGivenInAFormThatTheClientTakesIsRefusedWhateverTheVerb) {
  TestServer server;
  server.make_namespace("a");
  struct Asked {
    const char* method;
    const char* target;
  };
  const Asked resources[] = {
      {"GET", "/api/v1/namespaces/a/configmaps"},
      {"GET", "/api/v1/namespaces/a/configmaps?watch=1"},
      {"POST", "/api/v1/namespaces/a/configmaps"},
      {"DELETE", "/api/v1/namespaces/a/configmaps"},
      {"GET", "/api/v1/namespaces/a/serviceaccounts/default"},
      {"PUT", "/api/v1/namespaces/a/serviceaccounts/default"},
      {"PATCH", "/api/v1/namespaces/a/serviceaccounts/default"},
      {"DELETE", "/api/v1/namespaces/a/serviceaccounts/default"},
      {"POST", "/api/v1/namespaces/a/serviceaccounts/default/token"},
      {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
      {"GET", "/version"},
      {"GET", "/api"},
      {"GET", "/api/v1"},
      {"GET", "/apis"},
      {"GET", "/apis/batch"},
      {"GET", "/apis/batch/v1"},
      {"GET", "/openapi/v2"},
      {"GET", "/openapi/v3/apis/batch/v1"},
  };
  for (const Asked& asked : resources) {
    const TestExchangePtr answer = server.admin(asked.method, asked.target, "",
                                                {{"Accept", "text/html"}, {"Content-Type", ""}});
    EXPECT_EQ(answer->status, 406) << asked.method << ' ' << asked.target;
  }
  EXPECT_EQ(server.admin("GET", "/api/v1/namespaces/a/serviceaccounts/default")->status, 200)
      << "nothing was deleted";
  EXPECT_EQ(server.admin("GET", "/apis", "", {{"Accept", "text/html, */*;q=0.1"}})->status, 200);
}

TEST(General, TooManyRequestsAtOnceAreToldToComeBack) {
  TestServer server({.max_requests_in_flight = 1});
  const TestExchangePtr waiting = server.admin("GET", "/api/v1/pods?resourceVersion=99999");
  const TestExchangePtr refused = server.admin("GET", "/api/v1/pods");
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(http::find_header(refused->headers, "Retry-After"), "1");
  waiting->fire();
  EXPECT_EQ(server.admin("GET", "/api/v1/pods")->status, 200);
}

TEST(General, WatchesDoNotCountAsRequests) {
  TestServer server({.max_requests_in_flight = 1});
  const TestExchangePtr one = server.admin("GET", "/api/v1/pods?watch=true");
  const TestExchangePtr two = server.admin("GET", "/api/v1/pods?watch=true");
  EXPECT_EQ(two->status, 200);
}

TEST(General, ANewClusterHasItsNamespacesAndPriorities) {
  TestServer server;
  ASSERT_TRUE(bootstrap(*server.api).has_value());
  ASSERT_TRUE(bootstrap(*server.api).has_value()) << "again changes nothing";
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_EQ(server.admin("GET", std::string("/api/v1/namespaces/") + ns)->status, 200);
  }
  EXPECT_EQ(
      at(*server.admin("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical"),
         {"value"}),
      "2000001000");
}

TEST(General, MetricsCountRequestsInClosedSets) {
  TestServer server;
  server.admin("BREW", "/pot");
  server.admin("GET", "/api/v1/namespaces/a/nosuch");
  const std::string text = server.admin("GET", "/metrics")->body;
  EXPECT_THAT(text, ::testing::HasSubstr(
                        R"(apiserver_request_total{code="405",resource="",verb="other"} 1)"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("nosuch")));
}

}  // namespace general_test
}  // namespace muster::server
