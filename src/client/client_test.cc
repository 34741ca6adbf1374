#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::client {
namespace client_test {

using testing::HasSubstr;

api::Resource jobs() {
  api::Resource resource;
  resource.gvk = {"batch", "v1", "Job"};
  resource.plural = "jobs";
  return resource;
}

TEST(UrlPath, FollowsGroupNamespaceNameAndSubresource) {
  const api::Resource resource = jobs();
  EXPECT_EQ(url_path(resource, ""), "/apis/batch/v1/jobs");
  EXPECT_EQ(url_path(resource, "d", "x", "status"), "/apis/batch/v1/namespaces/d/jobs/x/status");
}

TEST(UrlEscape, LeavesOnlyUnreservedLettersAlone) {
  EXPECT_EQ(url_escape("a/b c=%~"), "a%2Fb%20c%3D%25~");
}

TEST(ErrorOfStatus, TakesReasonMessageAndCauses) {
  const Error error =
      error_of_status(422, R"({"kind":"Status","reason":"Invalid","message":"m","code":422,
    "details":{"name":"n","group":"g","kind":"K","causes":[{"reason":"FieldValueRequired","message":"r","field":"f"}]}})");
  EXPECT_EQ(error.code, Code::kInvalid);
  EXPECT_EQ(error.message, "m");
  EXPECT_EQ(error.name, "n");
  ASSERT_EQ(error.causes.size(), 1u);
  EXPECT_EQ(error.causes[0].field, "f");
}

TEST(ErrorOfStatus, GoesByTheStatusLineWithoutABody) {
  EXPECT_EQ(error_of_status(404, "404 page not found").code, Code::kNotFound);
  EXPECT_EQ(error_of_status(409, "").code, Code::kConflict);
}

class ClientTest : public testing::Test {
 protected:
  http::Request sent_by(const Operation& operation) {
    http::Request request;
    const auto transport =
        make_in_process_transport(*loop_, [&](std::shared_ptr<http::Exchange> exchange) {
          request = exchange->request();
          exchange->respond({.status = 200, .headers = {}, .body = {}});
        });
    Client(*transport, "tester").write(operation, [](Result<std::string>) {});
    loop_->run();
    return request;
  }
  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{});
  api::Resource jobs_ = jobs();
};

TEST_F(ClientTest, ACreateGoesToTheCollection) {
  const auto request =
      sent_by({.verb = Verb::kCreate, .resource = &jobs_, .ns = "d", .name = "x", .body = "{}"});
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/apis/batch/v1/namespaces/d/jobs?fieldManager=tester");
}

TEST_F(ClientTest, ABindingIsCreatedBelowItsPod) {
  const auto request = sent_by({.verb = Verb::kCreate,
                                .resource = &jobs_,
                                .ns = "d",
                                .name = "x",
                                .subresource = "binding",
                                .body = "{}"});
  EXPECT_THAT(request.target, HasSubstr("/jobs/x/binding?"));
}

TEST_F(ClientTest, AnApplySaysItsTypeAndForce) {
  const auto request = sent_by({.verb = Verb::kPatch,
                                .resource = &jobs_,
                                .ns = "d",
                                .name = "x",
                                .body = "{}",
                                .patch_type = PatchType::kApply,
                                .force = true});
  EXPECT_THAT(request.target, HasSubstr("&force=true"));
  EXPECT_EQ(http::find_header(request.headers, "content-type"), "application/apply-patch+yaml");
}

}  // namespace client_test
}  // namespace muster::client
