#include "cli/follow/follow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/metrics.h"
#include "cli/input/kinds.h"
#include "store/durability.h"

namespace muster::cli {
namespace follow_test {

constexpr std::string_view kJobSet =
    R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"s",)"
    R"("namespace":"d","uid":"set","resourceVersion":"9"},"spec":{"replicatedJobs":[]},"status":)"
    R"({"terminalState":"Completed","conditions":[{"type":"Completed","status":"True",)"
    R"("message":"jobset completed successfully"}]}})";
constexpr std::string_view kPods =
    R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"p","namespace":"d",)"
    R"("uid":"pod","resourceVersion":"7"},"spec":{"containers":[{"name":"main"}]},"status":)"
    R"({"phase":"Succeeded","containerStatuses":[{"name":"main","restartCount":0,)"
    R"("containerID":"muster://c","state":{"terminated":{"exitCode":0}}}]}}]})";
constexpr std::string_view kSynced =
    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
    R"({"k8s.io/initial-events-end":"true"}}}})";

// A server that tells of a JobSet that has ended, and whose watch of pods has not begun yet.
class FollowTest : public ::testing::Test {
 protected:
  void answer(const std::shared_ptr<http::Exchange>& exchange) {
    const std::string& target = exchange->request().target;
    if (target.contains("/log?")) {
      ++logs;
      exchange->start_stream({.status = 200, .headers = {}, .body = {}});
      return exchange->finish();
    }
    if (target.contains("/pods?") && !target.contains("watch="))
      return exchange->respond(
          {.status = 200, .headers = {}, .body = {http::Chunk::literal(kPods)}});
    open.push_back(exchange);
    exchange->start_stream({.status = 200, .headers = {}, .body = {}});
    if (!target.contains("/jobsets?")) return;
    exchange->send({http::Chunk::own(
        fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n{}\n", kJobSet, kSynced))});
  }

  int logs = 0;
  std::vector<std::shared_ptr<http::Exchange>> open;
  std::unique_ptr<VirtualLoop> loop = make_virtual_loop(Time{});
  std::unique_ptr<client::Transport> transport = client::make_in_process_transport(
      *loop, [this](const std::shared_ptr<http::Exchange>& exchange) { answer(exchange); });
  client::Client client{*transport, "test"};
  Screen screen{*loop, {.progress = false}};
};

TEST_F(FollowTest, ReadsTheLogOfAPodThatNobodyHasToldOf) {
  std::optional<int> code;
  Follow follow(client, screen,
                {.ns = "d",
                 .job_set = "s",
                 .uid = "set",
                 .logs = {},
                 .keys = {},
                 .exit_code_from = {},
                 .timeout = std::chrono::seconds(30)},
                [&](int ended) {
                  EXPECT_EQ(logs, 1);
                  code = ended;
                });
  follow.start();
  loop->run();
  EXPECT_EQ(code, 0);
}

// A server in this process, whose changes come in one order: nothing is asked for twice.
class FollowFeedTest : public ::testing::Test {
 protected:
  FollowFeedTest() {
    auto opened = store::Store::open(store::make_memory_durability(), api::Registry::builtin(),
                                     loop->clock(), metrics, {.commit_inline = true});
    MUSTER_ASSERT(opened.has_value(), "a store in memory opens");
    store = *std::move(opened);
    transport = client::make_in_process_transport(
        *loop, [this](const auto& exchange) { answer(exchange); }, store.get());
  }

  void answer(const std::shared_ptr<http::Exchange>& exchange) {
    asked.push_back(exchange->request().target);
    exchange->start_stream({.status = 200, .headers = {}, .body = {}});
    exchange->finish();
  }

  store::Revision put(const api::Resource& resource, const std::string& name,
                      const std::string& meta, const std::string& rest,
                      store::Revision expected = 0) {
    store::Revision revision = 0;
    store->submit(
        {.op = store::Write::Op::kPut,
         .key = {resource.id, "d", name},
         .expected = expected,
         .head = fmt::format(R"({{"metadata":{{"name":"{}","namespace":"d",{},"resourceVersion":")",
                             name, meta),
         .tail = R"("},)" + rest + "}"},
        [&](Result<store::ObjectPtr> written) {
          ASSERT_TRUE(written) << written.error().message;
          revision = (*written)->revision();
        });
    return revision;
  }

  Metrics metrics;
  std::unique_ptr<VirtualLoop> loop = make_virtual_loop(Time{});
  std::unique_ptr<store::Store> store;
  std::unique_ptr<client::Transport> transport;
  std::vector<std::string> asked;
};

TEST_F(FollowFeedTest, ListsNoPodsAndStillReadsTheLogOfOneThatWasQuick) {
  const auto first = put(job_sets(), "s", R"("uid":"set")", R"("spec":{"replicatedJobs":[]})");
  client::Client client(*transport, "test");
  Screen screen(*loop, {.progress = false});
  std::optional<int> code;
  Follow follow(client, screen,
                {.ns = "d",
                 .job_set = "s",
                 .uid = "set",
                 .logs = {},
                 .keys = {},
                 .exit_code_from = {},
                 .timeout = std::chrono::seconds(30)},
                [&](int ended) { code = ended; });
  follow.start();
  loop->run_for(std::chrono::seconds(1));
  EXPECT_TRUE(asked.empty());
  put(pods(), "p", R"("uid":"pod","labels":{"jobset.sigs.k8s.io/jobset-uid":"set"})",
      R"("spec":{"containers":[{"name":"main"}]},"status":{"phase":"Succeeded","containerStatuses":[{"name":"main",)"
      R"("restartCount":0,"containerID":"muster://c","state":{"terminated":{"exitCode":0}}}]})");
  put(job_sets(), "s", R"("uid":"set")",
      R"("spec":{"replicatedJobs":[]},"status":{"conditions":[{"type":"Completed","status":"True","message":"well"}]})",
      first);
  loop->run_for(std::chrono::seconds(1));
  EXPECT_EQ(code, 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].contains("/pods/p/log?"));
}

}  // namespace follow_test
}  // namespace muster::cli
