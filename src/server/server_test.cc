#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace server_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

TEST(Server, CreatesReadsUpdatesAndDeletesAnObject) {
  TestServer server;
  server.make_namespace("a");
  const TestExchangePtr made = server.admin("POST", "/api/v1/namespaces/a/configmaps",
                                            R"({"metadata":{"name":"c"},"data":{"k":"v"}})");
  ASSERT_EQ(made->status, 201) << made->body;
  EXPECT_EQ(at(*made, {"kind"}), "ConfigMap");
  EXPECT_EQ(at(*made, {"metadata", "namespace"}), "a");

  const TestExchangePtr read = server.admin("GET", "/api/v1/namespaces/a/configmaps/c");
  EXPECT_EQ(read->body, made->body);

  const TestExchangePtr changed =
      server.patch("/api/v1/namespaces/a/configmaps/c", R"({"data":{"k":"w"}})");
  ASSERT_EQ(changed->status, 200) << changed->body;
  EXPECT_EQ(at(*changed, {"data", "k"}), "w");
  EXPECT_EQ(at(*changed, {"metadata", "uid"}), at(*made, {"metadata", "uid"}));
  EXPECT_NE(at(*changed, {"metadata", "resourceVersion"}),
            at(*made, {"metadata", "resourceVersion"}));

  const TestExchangePtr gone = server.admin("DELETE", "/api/v1/namespaces/a/configmaps/c");
  EXPECT_EQ(at(*gone, {"status"}), "Success");
  EXPECT_EQ(server.admin("GET", "/api/v1/namespaces/a/configmaps/c")->status, 404);
}

}  // namespace server_test
}  // namespace muster::server
