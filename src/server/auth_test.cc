// Who asks and what he may do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace auth_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

Options with_tokens() {
  Options options;
  options.tokens = {
      {"sesame", {.name = "root", .uid = "", .groups = {std::string(kMasters)}, .extra = {}}},
      {"peek", {.name = "guest", .uid = "", .groups = {std::string(kReaders)}, .extra = {}}},
      {"nobody", {.name = "bob", .uid = "", .groups = {}, .extra = {}}}};
  options.sign_token = [](std::string_view text) {
    return fmt::format("{}", std::hash<std::string_view>()(text));
  };
  return options;
}

class Auth : public ::testing::Test {
 protected:
  Auth() { server.make_namespace("a"); }
  TestExchangePtr as(const std::string& token, const std::string& method, const std::string& target,
                     const std::string& body = "") {
    return server.send(method, target, body, {{"Authorization", "Bearer " + token}});
  }
  TestServer server{with_tokens()};
};

TEST_F(Auth, CredentialsThatNobodyKnowsAreRefused) {
  EXPECT_EQ(as("nonsense", "GET", "/version")->status, 401);
  EXPECT_EQ(as("", "GET", "/version")->status, 401);
  EXPECT_EQ(as("sesame", "GET", "/api/v1/namespaces/a/secrets")->status, 200);
}

// Before its body is read: whoever is refused need not be listened to.
TEST_F(Auth, ARequestIsJudgedByItsHeader) {
  const std::string target = "/api/v1/namespaces/a/configmaps";
  const auto judge = [&](const std::string& token, const std::string& method) {
    http::Request header{.method = method, .target = target};
    if (!token.empty()) header.headers.emplace_back("Authorization", "Bearer " + token);
    const auto verdict = server.api->check_header(header);
    return verdict ? *verdict : std::to_string(verdict.error().status);
  };
  EXPECT_EQ(judge("sesame", "POST"), "root");
  EXPECT_EQ(judge("peek", "GET"), "guest");
  EXPECT_EQ(judge("nonsense", "POST"), "401");
  EXPECT_EQ(judge("peek", "POST"), "403");
  EXPECT_EQ(judge("nobody", "POST"), "403");
  EXPECT_EQ(judge("", "POST"), "403") << "the anonymous";
  const auto refused = server.api->check_header({.method = "POST", .target = target});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().body.at(0).text, server.send("POST", target)->body)
      << "in the words of the answer that it would get with its body";
}

TEST_F(Auth, ACertificateNamesUserAndGroups) {
  const http::Peer alice{
      .address = "", .common_name = "alice", .organizations = {"devs"}, .certificate_sha256 = "ab"};
  const TestExchangePtr who = server.send(
      "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})", {}, alice);
  EXPECT_EQ(at(*who, {"status", "userInfo"}),
            R"({"username":"alice","groups":["devs","system:authenticated"],)"
            R"("extra":{"authentication.kubernetes.io/credential-id":["X509SHA256=ab"]}})");
}

TEST_F(Auth, TheAnonymousSeeHealthAndVersionOnly) {
  for (const char* open : {"/healthz", "/livez", "/readyz", "/version"})
    EXPECT_EQ(server.send("GET", open)->status, 200) << open;
  for (const char* closed : {"/api", "/apis", "/metrics", "/api/v1/pods", "/openapi/v3"}) {
    EXPECT_EQ(server.send("GET", closed)->status, 403) << closed;
  }
  TestServer strict({.anonymous = false});
  EXPECT_EQ(strict.send("GET", "/healthz")->status, 401);
}

TEST_F(Auth, EveryKnownUserMayDiscoverAndAskAboutHimself) {
  EXPECT_EQ(as("nobody", "GET", "/apis")->status, 200);
  const TestExchangePtr may =
      as("nobody", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         R"({"spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}})");
  EXPECT_EQ(at(*may, {"status", "allowed"}), "false");
  EXPECT_EQ(
      at(*as("nobody", "GET", "/api/v1/namespaces/a/pods"), {"message"}),
      R"(pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "a")");
}

TEST_F(Auth, ReadersReadAllButSecretsAndEnterNothing) {
  EXPECT_EQ(as("peek", "GET", "/api/v1/pods")->status, 200);
  EXPECT_EQ(as("peek", "GET", "/metrics")->status, 200);
  EXPECT_EQ(as("peek", "GET", "/api/v1/secrets")->status, 403);
  EXPECT_EQ(as("peek", "GET", "/api/v1/namespaces/a/pods/p/exec")->status, 403);
  EXPECT_EQ(as("peek", "DELETE", "/api/v1/namespaces/a/serviceaccounts/default")->status, 403);
}

TEST_F(Auth, RolesGiveWhatTheySay) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/a/";
  server.admin(
      "POST", rbac + "roles",
      R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods","pods/log"],"verbs":["get","list"]},)"
      R"({"apiGroups":[""],"resources":["configmaps"],"resourceNames":["mine"],"verbs":["*"]}]})");
  server.admin(
      "POST", rbac + "rolebindings",
      R"({"metadata":{"name":"rb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"bob"}]})");
  EXPECT_EQ(as("nobody", "GET", "/api/v1/namespaces/a/pods")->status, 200);
  EXPECT_EQ(as("nobody", "GET", "/api/v1/pods")->status, 403) << "of this namespace only";
  EXPECT_EQ(as("nobody", "GET", "/api/v1/namespaces/a/pods/p/log")->status, 404);
  EXPECT_EQ(as("nobody", "GET", "/api/v1/namespaces/a/pods/p/status")->status, 403);
  EXPECT_EQ(as("nobody", "GET", "/api/v1/namespaces/a/configmaps/mine")->status, 404);
  EXPECT_EQ(as("nobody", "GET", "/api/v1/namespaces/a/configmaps/yours")->status, 403);
  const TestExchangePtr may = server.admin(
      "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      R"({"spec":{"user":"bob","resourceAttributes":{"namespace":"a","verb":"list","resource":"pods"}}})");
  EXPECT_EQ(at(*may, {"status", "reason"}),
            R"(RBAC: allowed by RoleBinding "rb/a" of Role "r" to User "bob")");
}

TEST_F(Auth, WhoMayOnlyChangeCannotCreateByTheWay) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/a/";
  server.admin(
      "POST", rbac + "roles",
      R"({"metadata":{"name":"r"},"rules":[{"apiGroups":["*"],"resources":["leases","configmaps"],"verbs":["update","patch"]}]})");
  server.admin(
      "POST", rbac + "rolebindings",
      R"({"metadata":{"name":"rb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"bob"}]})");
  const TestExchangePtr put =
      as("nobody", "PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l",
         R"({"metadata":{"name":"l"}})");
  EXPECT_EQ(put->status, 403);
  EXPECT_THAT(at(*put, {"message"}),
              ::testing::HasSubstr(R"(User "bob" cannot create resource "leases")"));
  const TestExchangePtr applied = server.send(
      "PATCH", "/api/v1/namespaces/a/configmaps/c?fieldManager=m",
      R"({"apiVersion":"v1","kind":"ConfigMap"})",
      {{"Authorization", "Bearer nobody"}, {"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(applied->status, 403) << applied->body;
}

TEST_F(Auth, NobodyCanGiveHimselfRoles) {
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  server.admin(
      "POST", rbac + "clusterroles",
      R"({"metadata":{"name":"all"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})");
  server.admin(
      "POST", rbac + "clusterrolebindings",
      R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"all"},"subjects":[{"kind":"Group","name":"system:authenticated"}]})");
  EXPECT_EQ(as("nobody", "GET", "/api/v1/secrets")->status, 200);
  EXPECT_EQ(as("nobody", "POST", rbac + "clusterrolebindings", "{}")->status, 403);
}

TEST_F(Auth, AServiceAccountsTokenIsGoodWhileItsAccountLives) {
  const std::string accounts = "/api/v1/namespaces/a/serviceaccounts/default";
  const TestExchangePtr made =
      server.admin("POST", accounts + "/token", R"({"spec":{"expirationSeconds":3600}})");
  ASSERT_EQ(made->status, 201) << made->body;
  const std::string token = at(*made, {"status", "token"});
  const auto whose = [&](const std::string& text) {
    return server.admin("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                        R"({"spec":{"token":")" + text + R"("}})");
  };
  EXPECT_EQ(at(*whose(token), {"status", "user", "username"}), "system:serviceaccount:a:default");
  EXPECT_EQ(at(*whose(token + "x"), {"status", "error"}), "invalid bearer token");
  EXPECT_EQ(as(token, "GET", "/api")->status, 200);
  server.clock.advance(std::chrono::hours(2));
  EXPECT_EQ(as(token, "GET", "/api")->status, 401) << "expired";
  const std::string fresh =
      at(*server.admin("POST", accounts + "/token", R"({"spec":{}})"), {"status", "token"});
  EXPECT_EQ(as(fresh, "GET", "/api")->status, 200);
  server.admin("DELETE", accounts);
  EXPECT_EQ(as(fresh, "GET", "/api")->status, 401) << "the account is gone";
}

TEST_F(Auth, ATokenRequestOwnsTheAudiencesThatItSends) {
  const auto request = [&](const std::string& spec) {
    return server.admin("POST", "/api/v1/namespaces/a/serviceaccounts/default/token",
                        R"({"spec":)" + spec + "}");
  };
  EXPECT_NE(request(R"({"audiences":[]})")->body.find("f:audiences"), std::string::npos);
  const TestExchangePtr silent = request("{}");
  EXPECT_EQ(silent->body.find("f:audiences"), std::string::npos);
  EXPECT_EQ(at(*silent, {"spec", "audiences"}), R"(["https://kubernetes.default.svc"])");
}

TEST_F(Auth, ATokenForSomebodyElseIsNoProofHere) {
  const TestExchangePtr made =
      server.admin("POST", "/api/v1/namespaces/a/serviceaccounts/default/token",
                   R"({"spec":{"audiences":["https://vault.example.com"]}})");
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(as(at(*made, {"status", "token"}), "GET", "/api")->status, 401);
}

TEST_F(Auth, ImpersonationIsOffUnlessAllowed) {
  const http::Headers as_bob{{"Impersonate-User", "bob"}};
  EXPECT_EQ(server.admin("GET", "/api/v1/pods", "", as_bob)->status, 403);
  EXPECT_EQ(server.admin("GET", "/api/v1/pods", "", {{"impersonate-group", "few"}})->status, 400);
  TestServer open({.impersonation = true});
  EXPECT_EQ(
      at(*open.admin("GET", "/api/v1/pods", "", as_bob), {"message"}),
      R"(pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope)");
  EXPECT_EQ(open.send("GET", "/version", "", as_bob)->status, 403) << "only masters may";
}

TEST_F(Auth, CallersInsideTheProcessNeedNoProof) {
  const auto exchange =
      std::make_shared<testing::TestExchange>(http::Request{"GET", "/api/v1/secrets", {}, "", {}});
  server.api->handle_as(exchange, master("muster"));
  EXPECT_EQ(exchange->status, 200);
}

}  // namespace auth_test
}  // namespace muster::server
