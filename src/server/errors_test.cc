#include "server/errors.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace errors_test {

const api::Resource& jobs() { return *api::Registry::builtin().find("batch", "v1", "jobs"); }

TEST(StatusBody, NamesTheResourceThatIsNotThere) {
  EXPECT_EQ(
      status_body(not_found(jobs(), "x")),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"jobs.batch \"x\" not found",)"
      R"("reason":"NotFound","details":{"name":"x","group":"batch","kind":"jobs"},"code":404})"
      "\n");
}

TEST(StatusBody, APlainFailureHasNeitherReasonNorDetails) {
  EXPECT_EQ(
      status_body(untranslated("oops")),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"oops","code":500})"
      "\n");
}

TEST(StatusBody, GenericAnswersHaveEmptyDetails) {
  EXPECT_NE(status_body(unknown_path()).find(R"("details":{})"), std::string::npos);
  EXPECT_NE(status_body({.code = Code::kInvalid, .message = "no"}).find(R"("details":{})"),
            std::string::npos);
  EXPECT_EQ(status_body(bad_request("no")).find("details"), std::string::npos);
}

TEST(StatusBody, CarriesCausesAndWhenToComeBack) {
  Error error = timed_out("Too large resource version: 9, current: 1");
  error.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  error.retry_after_seconds = 1;
  EXPECT_NE(status_body(error).find(
                R"("details":{"causes":[{"reason":"ResourceVersionTooLarge",)"
                R"("message":"Too large resource version"}],"retryAfterSeconds":1},"code":504)"),
            std::string::npos);
}

TEST(StatusBody, AnExpiredListSaysHowToGoOn) {
  const std::string body = status_body({.code = Code::kExpired, .message = "old"}, "token");
  EXPECT_NE(body.find(R"("metadata":{"continue":"token"})"), std::string::npos);
}

}  // namespace errors_test
}  // namespace muster::server
