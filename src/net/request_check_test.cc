#include "net/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::net {
namespace request_check_test {

struct Case {
  const char* why;
  http::Headers headers;
  int status;  // 0: accepted
};

int status_of(const RequestCheck& check, const http::Request& request, bool http_1_0 = false) {
  const auto refusal = check(request, http_1_0);
  return refusal ? refusal->status : 0;
}

TEST(RequestCheck, HostHasToNameUsAndBrowsersOnlyReachTheirOwnOrigin) {
  const RequestCheck check({"LocalHost", "127.0.0.1", "::1"});
  const Case cases[] = {
      {"a name", {{"Host", "localhost"}}, 0},
      {"a name with a port", {{"Host", "localhost:6443"}}, 0},
      {"case does not matter", {{"host", "LOCALHOST:6443"}}, 0},
      {"an address", {{"Host", "127.0.0.1:6443"}}, 0},
      {"an IPv6 address", {{"Host", "[::1]:6443"}}, 0},
      {"the same address, written longer", {{"Host", "[0:0::0:1]"}}, 0},
      {"DNS rebinding", {{"Host", "evil.example:6443"}}, 421},
      {"another address", {{"Host", "127.0.0.2"}}, 421},
      {"a suffix is not enough", {{"Host", "evil.localhost"}}, 421},
      {"no host", {}, 400},
      {"an empty host", {{"Host", ""}}, 400},
      {"two hosts", {{"Host", "localhost"}, {"Host", "localhost"}}, 400},
      {"a host and a user", {{"Host", "localhost@evil.example"}}, 400},
      {"a path in the host", {{"Host", "localhost/x"}}, 400},
      {"a bad port", {{"Host", "localhost:http"}}, 400},
      {"our own page", {{"Host", "localhost:1"}, {"Origin", "https://localhost:1"}}, 0},
      {"another port of this host",
       {{"Host", "localhost:1"}, {"Origin", "https://localhost:2"}},
       403},
      {"the same host without TLS",
       {{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}},
       403},
      {"another site", {{"Host", "localhost:1"}, {"Origin", "https://evil.example"}}, 403},
      {"a sandboxed page", {{"Host", "localhost:1"}, {"Origin", "null"}}, 403},
      {"an empty origin", {{"Host", "localhost:1"}, {"Origin", ""}}, 403},
      {"two origins",
       {{"Host", "localhost:1"},
        {"Origin", "https://localhost:1"},
        {"Origin", "https://evil.example"}},
       403},
      {"own fetch", {{"Host", "localhost"}, {"Sec-Fetch-Site", "same-origin"}}, 0},
      {"typed by the user", {{"Host", "localhost"}, {"Sec-Fetch-Site", "none"}}, 0},
      {"cross-site", {{"Host", "localhost"}, {"Sec-Fetch-Site", "cross-site"}}, 403},
      {"sibling domain", {{"Host", "localhost"}, {"Sec-Fetch-Site", "same-site"}}, 403},
      {"unheard-of", {{"Host", "localhost"}, {"Sec-Fetch-Site", "friendly"}}, 403},
  };
  for (const Case& c : cases) {
    for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
      EXPECT_EQ(status_of(check, {.method = method, .target = "/", .headers = c.headers}), c.status)
          << c.why << ", " << method;
    }
  }
}

TEST(RequestCheck, WithoutAListAnyHostWillDoButNotAMalformedOne) {
  const RequestCheck check({});
  EXPECT_EQ(status_of(check, {.target = "/", .headers = {{"Host", "anything.example"}}}), 0);
  EXPECT_EQ(status_of(check, {.target = "/", .headers = {{"Host", "a b"}}}), 400);
  EXPECT_EQ(status_of(check, {.target = "/"}), 400);
  EXPECT_EQ(status_of(check, {.target = "/"}, true), 0);  // HTTP/1.0 knows no Host
}

TEST(RequestCheck, TheTargetIsAPath) {
  const RequestCheck check({});
  for (const auto& [target, status] :
       std::vector<std::pair<std::string, int>>{{"/", 0},
                                                {"/api?x=y", 0},
                                                {"*", 0},
                                                {"https://evil.example/", 400},
                                                {"evil:443", 400}}) {
    EXPECT_EQ(status_of(check, {.target = target, .headers = {{"Host", "h"}}}), status) << target;
  }
}

}  // namespace request_check_test
}  // namespace muster::net
