#include "server/request_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::server {
namespace request_info_test {

struct Row {
  std::string_view method;
  std::string_view target;
  std::string_view verb;
  std::string_view where;  // group/version ns resource name subresource
};

class ReadsPaths : public ::testing::TestWithParam<Row> {};

TEST_P(ReadsPaths, AsKubernetesDoes) {
  const Result<RequestInfo> info = parse_request(GetParam().method, GetParam().target);
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->is_resource);
  EXPECT_EQ(info->verb, GetParam().verb);
  EXPECT_EQ(fmt::format("{}/{} {} {} {} {}", info->group, info->version, info->ns, info->resource,
                        info->name, info->subresource),
            GetParam().where);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReadsPaths,
    ::testing::Values(
        Row{"GET", "/api/v1/pods", "list", "/v1  pods  "},
        Row{"GET", "/api/v1/pods?watch=true", "watch", "/v1  pods  "},
        Row{"GET", "/api/v1/pods?watch=false", "list", "/v1  pods  "},
        Row{"GET", "/api/v1/pods?watch", "watch", "/v1  pods  "},
        Row{"GET", "/api/v1/pods?watch=yes", "watch", "/v1  pods  "},
        Row{"GET", "/api/v1/pods?watch=False", "list", "/v1  pods  "},
        Row{"GET", "/api/v1/namespaces/a/pods/p", "get", "/v1 a pods p "},
        Row{"get", "/api/v1/namespaces/a/pods/p", "", "/v1 a pods p "},
        Row{"LIST", "/api/v1/pods", "", "/v1  pods  "},
        Row{"DELETECOLLECTION", "/api/v1/namespaces/a/pods", "", "/v1 a pods  "},
        Row{"HEAD", "/api/v1/namespaces/a/pods/p", "get", "/v1 a pods p "},
        Row{"PUT", "/api/v1/namespaces/a/pods/p/status", "update", "/v1 a pods p status"},
        Row{"POST", "/api/v1/namespaces/a/pods", "create", "/v1 a pods  "},
        Row{"DELETE", "/api/v1/namespaces/a/pods", "deletecollection", "/v1 a pods  "},
        Row{"DELETE", "/api/v1/namespaces/a", "delete", "/v1 a namespaces a "},
        Row{"PUT", "/api/v1/namespaces/a/finalize", "update", "/v1 a namespaces a finalize"},
        Row{"PATCH", "/api/v1/namespaces/a/status", "patch", "/v1 a namespaces a status"},
        Row{"GET", "/apis/batch/v1/namespaces/a/jobs/j", "get", "batch/v1 a jobs j "},
        Row{"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", "get",
            "rbac.authorization.k8s.io/v1  clusterroles system:node "}));

TEST(RequestInfo, PathsThatAreNoResourceKeepTheMethodAsVerb) {
  for (const std::string_view target :
       {"/", "/api", "/api/v1", "/apis/batch", "/apis/batch/v1", "/healthz", "/version"}) {
    const Result<RequestInfo> info = parse_request("GET", target);
    ASSERT_TRUE(info.has_value());
    EXPECT_FALSE(info->is_resource) << target;
    EXPECT_EQ(info->verb, "get");
  }
}

TEST(RequestInfo, AQueryMayRepeatParametersAndEscapeThem) {
  const Result<RequestInfo> info = parse_request("GET", "/x?a=1&a=2%26&b=x+y&c");
  ASSERT_TRUE(info.has_value());
  EXPECT_THAT(info->query.all("a"), ::testing::ElementsAre("1", "2&"));
  EXPECT_EQ(info->query.get("b"), "x y");
  EXPECT_TRUE(info->query.has("c"));
  EXPECT_FALSE(info->query.has("d"));
}

TEST(RequestInfo, ABrokenEscapeIsABadRequest) {
  for (const std::string_view target : {"/api/v1/pods/%zz", "/x?a=%4", "/x?%"}) {
    EXPECT_EQ(parse_request("GET", target).error().code, Code::kBadRequest) << target;
  }
}

}  // namespace request_info_test
}  // namespace muster::server
