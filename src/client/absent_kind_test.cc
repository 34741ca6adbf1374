// Informers of kinds that the server does not have, or not yet, or no longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/metrics.h"
#include "client/informer.h"
#include "client/served.h"
#include "store/durability.h"

namespace muster::client {
namespace absent_kind_test {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;

enum class Definition { kNoGroup, kOtherKindsOnly, kServed };

// A server with one kind, whose definition comes and goes.
class AbsentKind : public ::testing::Test {
 protected:
  AbsentKind() {
    things_.gvk = {"x.dev", "v1", "Thing"};
    things_.plural = "things";
    informer_.on_change([this](const ObjectPtr& before, const ObjectPtr& after) {
      changes_.push_back((after ? "+" : "-") + (after ? after : before)->meta().name);
    });
  }

  void serve(std::shared_ptr<http::Exchange> exchange) {
    const std::string& target = exchange->request().target;
    const bool about_discovery = target == "/apis/x.dev/v1";
    if (about_discovery) ++looks_;
    const std::optional<int> trouble = about_discovery ? discovery_trouble_ : watch_trouble_;
    if (trouble)
      return *trouble == 0 ? unanswered_.push_back(exchange) : refuse(*exchange, *trouble);
    if (about_discovery) return answer_discovery(*exchange);
    ++watches_;
    if (definition_ != Definition::kServed) return refuse(*exchange, 404);
    exchange->start_stream({});
    std::string text;
    for (const std::string& name : objects_) text += line("ADDED", name, "");
    text += line("BOOKMARK", "", R"("annotations":{"k8s.io/initial-events-end":"true"},)");
    std::vector<http::Chunk> chunks;
    chunks.push_back(http::Chunk::own(std::move(text)));
    exchange->send(std::move(chunks));
    open_ = std::move(exchange);
  }
  static std::string line(std::string_view type, std::string_view name, std::string_view more) {
    return fmt::format(
        R"({{"type":"{}","object":{{"metadata":{{"namespace":"d","name":"{}",{}"resourceVersion":"7"}}}}}})"
        "\n",
        type, name, more);
  }
  static void answer(http::Exchange& exchange, int status, std::string body) {
    http::Response response{.status = status, .headers = {}, .body = {}};
    response.body.push_back(http::Chunk::own(std::move(body)));
    exchange.respond(std::move(response));
  }
  static void refuse(http::Exchange& exchange, int status) {
    answer(exchange, status, "404 page not found\n");
  }
  void answer_discovery(http::Exchange& exchange) const {
    if (definition_ == Definition::kNoGroup) return refuse(exchange, 404);
    const bool served = definition_ == Definition::kServed;
    answer(exchange, 200,
           fmt::format(R"({{"kind":"APIResourceList","groupVersion":"x.dev/v1","resources":[
                         {{"name":"others"}},{{"name":"{}"}}]}})",
                       served ? "things" : "things/status"));
  }
  void remove_definition() {
    definition_ = Definition::kNoGroup;
    std::exchange(open_, nullptr)->finish();
  }
  std::vector<std::string> changes_within(Duration span) {
    loop_->run_for(span);
    return std::exchange(changes_, {});
  }

  Definition definition_ = Definition::kNoGroup;
  std::optional<int> watch_trouble_, discovery_trouble_;  // a status; 0: no answer
  std::vector<std::string> objects_ = {"a", "b"};
  int looks_ = 0;  // at discovery
  int watches_ = 0;
  std::shared_ptr<http::Exchange> open_;
  std::vector<std::shared_ptr<http::Exchange>> unanswered_;

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{});
  std::unique_ptr<Transport> transport_ = make_in_process_transport(
      *loop_, [this](std::shared_ptr<http::Exchange> exchange) { serve(std::move(exchange)); });
  Client client_{*transport_, "test"};
  api::Resource things_;
  Informer informer_{client_, things_};
  std::vector<std::string> changes_;
};

TEST_F(AbsentKind, IsEmptyAndSynced) {
  for (const Definition absent : {Definition::kNoGroup, Definition::kOtherKindsOnly}) {
    definition_ = absent;
    Informer informer(client_, things_);
    bool told = false;
    informer.on_synced([&] { told = true; });
    informer.start();
    loop_->run_for(seconds(1));
    EXPECT_TRUE(informer.synced() && told);
    EXPECT_THAT(informer.objects(), IsEmpty());
  }
}

TEST_F(AbsentKind, IsPickedUpWhenItsDefinitionAppears) {
  informer_.start();
  EXPECT_THAT(changes_within(seconds(10)), IsEmpty());
  definition_ = Definition::kServed;
  EXPECT_THAT(changes_within(seconds(20)), ElementsAre("+a", "+b"));
  EXPECT_EQ(informer_.position(), 7u);
}

TEST_F(AbsentKind, IsPickedUpWithinHalfAMinuteHoweverLateItComes) {
  informer_.start();
  loop_->run_for(hours(100));
  definition_ = Definition::kServed;
  EXPECT_THAT(changes_within(seconds(30)), ElementsAre("+a", "+b"));
}

TEST_F(AbsentKind, IsLookedForSeldomAndInDiscoveryOnly) {
  informer_.start();
  loop_->run_for(hours(1));
  EXPECT_THAT(looks_, AllOf(Ge(120), Le(250)));
  EXPECT_EQ(watches_, 1);
}

TEST_F(AbsentKind, OnlyTheServersOwnWordCounts) {
  struct Row {
    std::string_view sentence;
    std::optional<int> watch, discovery;
  };
  const Row rows[] = {
      {"it may not be looked at", 403, {}},
      {"the server has trouble", 500, {}},
      {"the server is starting", 503, {}},
      {"there is no answer", 0, {}},
      {"404 comes from something else, as discovery names the kind", 404, {}},
      {"discovery may not be asked", 404, 403},
      {"discovery has trouble", 404, 500},
      {"discovery does not answer", 404, 0},
  };
  definition_ = Definition::kServed;
  for (const Row& row : rows) {
    watch_trouble_ = row.watch;
    discovery_trouble_ = row.discovery;
    Informer informer(client_, things_);
    informer.start();
    loop_->run_for(hours(1));
    EXPECT_FALSE(informer.synced()) << row.sentence;
    watch_trouble_ = discovery_trouble_ = {};
    if (row.watch == 0 || row.discovery == 0) continue;
    loop_->run_for(seconds(30));
    EXPECT_TRUE(informer.synced()) << row.sentence;
    EXPECT_EQ(informer.objects().size(), 2u) << row.sentence;
  }
}

TEST_F(AbsentKind, BecomesEmptyWhenItsDefinitionGoesAndIsPickedUpAgain) {
  definition_ = Definition::kServed;
  informer_.start();
  EXPECT_THAT(changes_within(seconds(1)), ElementsAre("+a", "+b"));
  for (int round = 0; round < 3; ++round) {
    remove_definition();
    EXPECT_THAT(changes_within(seconds(10)), ElementsAre("-a", "-b"));
    EXPECT_TRUE(informer_.synced());
    definition_ = Definition::kServed;
    EXPECT_THAT(changes_within(seconds(30)), ElementsAre("+a", "+b"));
  }
}

TEST_F(AbsentKind, KeepsWhatItKnowsWhileTheServerIsInTrouble) {
  definition_ = Definition::kServed;
  informer_.start();
  EXPECT_THAT(changes_within(seconds(1)), ElementsAre("+a", "+b"));
  watch_trouble_ = 404;
  discovery_trouble_ = 503;
  std::exchange(open_, nullptr)->abort();
  EXPECT_THAT(changes_within(hours(1)), IsEmpty());
}

TEST_F(AbsentKind, AnInformerThatGoesWhileItWaitsAsksNoMore) {
  std::optional<Informer> informer;
  informer.emplace(client_, things_);
  informer->start();
  loop_->run_for(seconds(10));
  informer.reset();
  const int looks = looks_;
  loop_->run_for(hours(1));
  EXPECT_EQ(looks_, looks);
}

// The feed has the kinds that its store was opened with. One that is defined later has to be asked
// for, and waits likewise.
TEST_F(AbsentKind, IsAskedForBesideAFeedToo) {
  Metrics metrics;
  auto store = store::Store::open(store::make_memory_durability(), api::Registry::builtin(),
                                  loop_->clock(), metrics, {.commit_inline = true});
  ASSERT_TRUE(store);
  const auto transport = make_in_process_transport(
      *loop_, [this](std::shared_ptr<http::Exchange> exchange) { serve(std::move(exchange)); },
      store->get());
  Client client(*transport, "test");
  Informer informer(client, things_);
  informer.start();
  loop_->run_for(seconds(10));
  EXPECT_TRUE(informer.synced());
  EXPECT_THAT(informer.objects(), IsEmpty());
  definition_ = Definition::kServed;
  loop_->run_for(seconds(30));
  EXPECT_EQ(informer.objects().size(), 2u);
}

TEST(NamesResource, BelievesAListOfResourcesOnly) {
  constexpr std::string_view kList =
      R"({"kind":"APIResourceList","resources":[{"name":"jobs/status"},{"name":"jobs"}]})";
  EXPECT_EQ(names_resource(kList, "jobs"), true);
  EXPECT_EQ(names_resource(kList, "job"), false);
  EXPECT_EQ(names_resource(R"({"kind":"APIResourceList"})", "jobs"), false);
  EXPECT_FALSE(names_resource(R"({"kind":"Status"})", "jobs").has_value());
  EXPECT_FALSE(names_resource("<html>", "jobs").has_value());
}

}  // namespace absent_kind_test
}  // namespace muster::client
