#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"
#include "json/write.h"

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

TEST_F(ClientTest, ATreeIsHandedOverAsItIs) {
  json::Arena arena;
  const auto request = sent_by({.verb = Verb::kCreate,
                                .resource = &jobs_,
                                .ns = "d",
                                .name = "x",
                                .body = *json::parse(arena, R"({"a":1})")});
  EXPECT_EQ(request.body, "");
  ASSERT_NE(request.document, nullptr);
  EXPECT_EQ(json::write(request.document->root()), R"({"a":1})");
  EXPECT_EQ(http::find_header(request.headers, "Content-Type"), "application/json");
}

TEST_F(ClientTest, AnEmptyBodyIsNoTree) {
  const auto request = sent_by({.verb = Verb::kDelete, .resource = &jobs_, .ns = "d", .name = "x"});
  EXPECT_EQ(request.document, nullptr);
  EXPECT_EQ(http::find_header(request.headers, "Content-Type"), "");
}

class AnswerTest : public ClientTest {
 protected:
  Result<Written> answered(http::Response response) {
    Result<Written> out = fail(Code::kInternal, "no answer");
    const auto transport = make_in_process_transport(
        *loop_,
        [&](std::shared_ptr<http::Exchange> exchange) { exchange->respond(std::move(response)); });
    Client(*transport, "tester")
        .write({.verb = Verb::kDelete, .resource = &jobs_, .ns = "d", .name = "x"},
               [&](Result<Written> answer) { out = std::move(answer); });
    loop_->run();
    return out;
  }
  static http::Response text(std::string body) {
    http::Response response{.status = 200, .headers = {}, .body = {}};
    response.body.push_back(http::Chunk::own(std::move(body)));
    return response;
  }
  const std::string object_ =
      R"({"metadata":{"name":"x","uid":"u","resourceVersion":"7"},"spec":{}})";
};

TEST_F(AnswerTest, AStoredObjectIsHandedOverAsItIs) {
  http::Response response = text("not read");
  const auto object = std::make_shared<const store::Object>(object_, 7);
  response.object = object;
  auto answer = answered(std::move(response));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->object(), object);
  EXPECT_EQ(&answer->meta(), &object->meta());
  EXPECT_EQ(answer->text(), object_);
}

TEST_F(AnswerTest, ATextIsReadWhenItIsAskedFor) {
  auto answer = answered(text(object_));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->object(), nullptr);
  EXPECT_EQ(answer->meta().uid, "u");
  EXPECT_EQ(answer->text(), object_);
  auto status = answered(text(R"({"kind":"Status"})"));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->meta().name, "");
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
