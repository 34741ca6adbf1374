// How large an object may be, and that one which is as large as it may be still lives and dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/object_write.h"
#include "server/testing.h"

namespace muster::server {
namespace object_size_test {

using testing::at;
using testing::TestExchangePtr;
using testing::TestServer;

const std::string kPods = "/api/v1/namespaces/a/pods";
constexpr const char* kTooLarge = "Request entity too large: limit is 1572864";

class ObjectSize : public ::testing::Test {
 protected:
  ObjectSize() { server.make_namespace("a"); }

  static std::string pod(const std::string& name, std::size_t padding) {
    return R"({"metadata":{"name":")" + name +
           R"(","finalizers":["x.io/hold"]},"spec":{"containers":[{"name":"c","image":"i","args":[")" +
           std::string(padding, 'x') + R"("]}]}})";
  }
  std::size_t stored_size(const std::string& name) {
    return server.admin("GET", kPods + "/" + name)->body.size();
  }
  // So large that not even one more field fits.
  void make_full_pod(const std::string& name) {
    const std::string trial(name.size(), 't');
    ASSERT_EQ(server.admin("POST", kPods, pod(trial, 1))->status, 201);
    constexpr std::size_t kLeft = 50;
    const TestExchangePtr made =
        server.admin("POST", kPods, pod(name, kMaxStoredBytes - kLeft - (stored_size(trial) - 1)));
    ASSERT_EQ(made->status, 201) << made->body.substr(0, 500);
    ASSERT_GT(stored_size(name), kMaxStoredBytes - 2 * kLeft);
  }
  TestExchangePtr bind(const std::string& pod, const std::string& metadata = "",
                       const std::string& query = "") {
    return server.admin("POST", kPods + "/" + pod + "/binding" + query,
                        R"({"metadata":{"name":")" + pod + "\"" + metadata +
                            R"(},"target":{"kind":"Node","name":"n1"}})");
  }

  TestServer server;
};

TEST_F(ObjectSize, AFullPodIsBoundReportsItsStatusAndIsDeleted) {
  make_full_pod("full");
  EXPECT_EQ(bind("full")->status, 201);
  const std::string message(5'000, 'm');
  const TestExchangePtr reported = server.patch(
      kPods + "/full/status", R"({"status":{"phase":"Failed","message":")" + message + R"("}})",
      "merge-patch+json");
  ASSERT_EQ(reported->status, 200) << reported->body.substr(0, 500);
  ASSERT_GT(stored_size("full"), kMaxStoredBytes);
  EXPECT_EQ(server.admin("DELETE", kPods + "/full?gracePeriodSeconds=0")->status, 200);
  EXPECT_EQ(
      server.patch(kPods + "/full", R"({"metadata":{"finalizers":null}})", "merge-patch+json")
          ->status,
      200);
  EXPECT_EQ(server.admin("GET", kPods + "/full")->status, 404);
}

TEST_F(ObjectSize, AClientCannotUseTheRoomOfTheStatus) {
  make_full_pod("full");
  const std::string more =
      R"({"metadata":{"annotations":{"a":")" + std::string(5'000, 'm') + R"("}}})";
  const TestExchangePtr refused = server.patch(kPods + "/full", more, "merge-patch+json");
  EXPECT_EQ(refused->status, 413);
  EXPECT_EQ(at(*refused, {"message"}), kTooLarge);
}

TEST_F(ObjectSize, AClientCanChangeWhatItsStatusHasMadeLarger) {
  make_full_pod("full");
  ASSERT_EQ(server
                .patch(kPods + "/full/status",
                       R"({"status":{"message":")" + std::string(5'000, 'm') + R"("}})",
                       "merge-patch+json")
                ->status,
            200);
  EXPECT_EQ(
      server.patch(kPods + "/full", R"({"metadata":{"finalizers":null}})", "merge-patch+json")
          ->status,
      200);
}

TEST_F(ObjectSize, ADryRunKnowsTheLimit) {
  const TestExchangePtr refused =
      server.admin("POST", kPods + "?dryRun=All", pod("p", kMaxStoredBytes));
  EXPECT_EQ(refused->status, 413);
  EXPECT_EQ(at(*refused, {"message"}), kTooLarge);
  make_full_pod("full");
  const std::string more =
      R"({"metadata":{"annotations":{"a":")" + std::string(5'000, 'm') + R"("}}})";
  EXPECT_EQ(server.patch(kPods + "/full?dryRun=All", more, "merge-patch+json")->status, 413);
}

TEST_F(ObjectSize, TheMetadataOfABindingIsValidated) {
  ASSERT_EQ(server.admin("POST", kPods, pod("p", 1))->status, 201);
  const TestExchangePtr bad_label = bind("p", R"(,"labels":{"not a key":"-"})");
  EXPECT_EQ(bad_label->status, 422);
  EXPECT_THAT(at(*bad_label, {"message"}), ::testing::HasSubstr("Binding \"p\" is invalid: "));
  EXPECT_THAT(at(*bad_label, {"message"}), ::testing::HasSubstr("metadata.labels"));
  const std::string large = R"(,"annotations":{"a":")" + std::string(2'000'000, 'x') + R"("})";
  for (const char* query : {"", "?dryRun=All"}) EXPECT_EQ(bind("p", large, query)->status, 422);
  EXPECT_EQ(at(*server.admin("GET", kPods + "/p"), {"spec", "nodeName"}), "null");
  EXPECT_EQ(bind("p", R"(,"labels":{"rack":"7"})")->status, 201);
}

TEST_F(ObjectSize, TheMetadataOfABindingCountsAgainstTheLimit) {
  make_full_pod("full");
  std::string labels;
  for (int i = 0; i < 100; ++i)
    labels += fmt::format(R"({}"label-{}":"{}")", i == 0 ? "" : ",", i, std::string(60, 'x'));
  for (const char* query : {"", "?dryRun=All"}) {
    const TestExchangePtr refused = bind("full", R"(,"labels":{)" + labels + "}", query);
    EXPECT_EQ(refused->status, 413);
    EXPECT_EQ(at(*refused, {"message"}), kTooLarge);
  }
}

}  // namespace object_size_test
}  // namespace muster::server
