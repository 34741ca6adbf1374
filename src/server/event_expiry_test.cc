#include "server/event_expiry.h"

#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace event_expiry_test {

using testing::TestServer;

TEST(Expiry, EventsLiveForAnHourAfterTheirLastChange) {
  TestServer server;
  server.make_namespace("a");
  const std::string events = "/api/v1/namespaces/a/events";
  const auto make = [&](const std::string& name, const std::string& last) {
    return server
        .admin("POST", events,
               R"({"metadata":{"name":")" + name +
                   R"(","namespace":"a"},"involvedObject":{"namespace":"a"},"lastTimestamp":")" +
                   last + R"("})")
        ->status;
  };
  ASSERT_EQ(make("old", "2027-01-15T08:00:00Z"), 201);
  ASSERT_EQ(make("repeated", "2027-01-15T08:50:00Z"), 201);
  server.clock.advance(std::chrono::minutes(59));
  server.admin("GET", events);
  EXPECT_EQ(server.admin("GET", events + "/old")->status, 200);
  server.clock.advance(std::chrono::minutes(2));
  server.admin("GET", events);
  EXPECT_EQ(server.admin("GET", events + "/old")->status, 404);
  EXPECT_EQ(server.admin("GET", events + "/repeated")->status, 200);
}

}  // namespace event_expiry_test
}  // namespace muster::server
