#include "agent/pod_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace muster::agent {
namespace pod_tokens_test {

using std::chrono::seconds;
using ::testing::HasSubstr;

// A pod that wants one token, and a server that answers as the test says.
class PodTokensTest : public ::testing::Test {
 protected:
  Status fetch(std::string answer) {
    answer_ = std::move(answer);
    std::optional<Status> came;
    tokens_.fetch(pod_, [&](Status status) { came = std::move(status); });
    while (!came) loop_->run_for(Duration::zero());
    return *came;
  }
  std::string fault(std::string answer) {
    const Status came = fetch(std::move(answer));
    EXPECT_FALSE(tokens_.fresh(pod_, loop_->clock().now()));
    return came ? "" : came.error().message;
  }

  json::Arena arena_;
  const json::Value pod_ = *json::parse(
      arena_, R"({"metadata":{"namespace":"n","name":"p","uid":"u"},"spec":{"volumes":[{"projected":
                  {"sources":[{"serviceAccountToken":{"path":"token"}}]}}]}})");
  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(*parse_time("2026-01-01T00:00:00Z"));
  std::string answer_;
  std::unique_ptr<client::Transport> transport_ = client::make_in_process_transport(
      *loop_, [this](const std::shared_ptr<http::Exchange>& exchange) {
        exchange->respond({.status = 201, .headers = {}, .body = {http::Chunk::own(answer_)}});
      });
  client::Client client_{*transport_, "test", Rng(1)};
  PodTokens tokens_{client_, *api::Registry::builtin().find("", "v1", "serviceaccounts")};
};

TEST_F(PodTokensTest, TokenIsFreshForFourFifthsOfItsLife) {
  ASSERT_TRUE(fetch(R"({"status":{"token":"t","expirationTimestamp":"2026-01-01T00:10:00Z"}})")
                  .has_value());
  const Time now = loop_->clock().now();
  EXPECT_TRUE(tokens_.fresh(pod_, now + seconds(479)));
  EXPECT_FALSE(tokens_.fresh(pod_, now + seconds(480)));
  EXPECT_EQ(tokens_.due(), now + seconds(480));
}

TEST_F(PodTokensTest, AnswerThatCannotBeUsedIsAFailure) {
  EXPECT_THAT(fault("no JSON"), HasSubstr("cannot be read"));
  EXPECT_THAT(fault(R"({"status":{"expirationTimestamp":"2026-01-01T00:10:00Z"}})"),
              HasSubstr("has no token"));
  EXPECT_THAT(fault(R"({"status":{"token":"t"}})"), HasSubstr("does not say when"));
  EXPECT_THAT(fault(R"({"status":{"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z"}})"),
              HasSubstr("has expired already"));
}

}  // namespace pod_tokens_test
}  // namespace muster::agent
