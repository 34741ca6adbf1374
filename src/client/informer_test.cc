#include "client/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace muster::client {
namespace informer_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

api::Resource pods() {
  api::Resource resource;
  resource.gvk = {"", "v1", "Pod"};
  resource.plural = "pods";
  return resource;
}

// A server that the test plays by hand: every request waits in `asked`.
class InformerTest : public testing::Test {
 protected:
  InformerTest() {
    informer_.on_change([this](const ObjectPtr& before, const ObjectPtr& after) {
      const char sign = !before ? '+' : !after ? '-' : '~';
      changes_.push_back(sign + (after ? after : before)->meta().name);
    });
  }

  std::shared_ptr<http::Exchange> next_request() {
    loop_->run_for(std::chrono::minutes(1));
    EXPECT_FALSE(asked_.empty()) << "the informer should have asked for something";
    auto exchange = asked_.front();
    asked_.pop_front();
    return exchange;
  }
  static std::string event(std::string_view type, std::string_view name, int revision,
                           std::string_view more = "") {
    return fmt::format(
        "{{\"type\":\"{}\",\"object\":{{\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{}\","
        "\"namespace\":\"d\","
        "\"resourceVersion\":\"{}\"{}}}}}}}\n",
        type, name, revision, more);
  }
  static std::string initial_end(int revision) {
    return event("BOOKMARK", "", revision,
                 R"(,"annotations":{"k8s.io/initial-events-end":"true"})");
  }
  void stream(http::Exchange& exchange, std::string text) {
    exchange.start_stream({.status = 200, .headers = {}, .body = {}});
    send(exchange, std::move(text));
  }
  static std::vector<http::Chunk> http_text(std::string text) {
    std::vector<http::Chunk> chunks;
    chunks.push_back(http::Chunk::own(std::move(text)));
    return chunks;
  }
  void send(http::Exchange& exchange, std::string text) {
    exchange.send(http_text(std::move(text)));
    loop_->run_for(std::chrono::milliseconds(1));
  }
  void refuse(http::Exchange& exchange, int status, std::string reason) {
    http::Response response{.status = status, .headers = {}, .body = {}};
    response.body.push_back(http::Chunk::own(
        fmt::format(R"({{"kind":"Status","reason":"{}","message":"no"}})", reason)));
    exchange.respond(std::move(response));
  }

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{});
  std::deque<std::shared_ptr<http::Exchange>> asked_;
  std::unique_ptr<Transport> transport_ = make_in_process_transport(
      *loop_,
      [this](std::shared_ptr<http::Exchange> exchange) { asked_.push_back(std::move(exchange)); });
  Client client_{*transport_, "test"};
  api::Resource pods_ = pods();
  Informer informer_{client_, pods_};
  std::vector<std::string> changes_;
};

TEST_F(InformerTest, OpensWithAStreamingListAndIsSyncedAtItsEnd) {
  informer_.start();
  const auto watch = next_request();
  EXPECT_THAT(watch->request().target, HasSubstr("sendInitialEvents=true"));
  stream(*watch, event("ADDED", "a", 1) + event("ADDED", "b", 2));
  EXPECT_FALSE(informer_.synced());
  send(*watch, initial_end(2));
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(changes_, ElementsAre("+a", "+b"));
  EXPECT_EQ(informer_.position(), 2u);
}

TEST_F(InformerTest, TellsChangesAndKeepsTheNewestState) {
  informer_.start();
  const auto watch = next_request();
  stream(*watch, event("ADDED", "a", 1) + initial_end(1) + event("MODIFIED", "a", 2) +
                     event("DELETED", "a", 3));
  EXPECT_THAT(changes_, ElementsAre("+a", "~a", "-a"));
  EXPECT_EQ(informer_.find("d", "a"), nullptr);
}

TEST_F(InformerTest, ForgetsContentWhenTold) {
  std::vector<std::string> told;
  informer_.on_change([&](const ObjectPtr& before, const ObjectPtr& after) {
    if (before) told.push_back("before " + before->bytes());
    if (after) told.emplace_back(after->meta().label("l").value_or("none"));
  });
  informer_.forget_content();
  informer_.start();
  const auto watch = next_request();
  const std::string_view more =
      R"(,"uid":"u","labels":{"l":"v"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
      R"("name":"j","uid":"o","controller":true}])";
  stream(*watch, event("ADDED", "a", 1, more) + initial_end(1) + event("MODIFIED", "a", 2));
  const std::string known =
      R"({"metadata":{"name":"a","namespace":"d","uid":"u","resourceVersion":"1",)"
      R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"o",)"
      R"("controller":true}]}})";
  EXPECT_THAT(told, ElementsAre("v", "before " + known, "none"));
  EXPECT_EQ(informer_.find("d", "a")->meta().resource_version, "2");
}

// Whatever a server sends, it is asked again; nothing ends.
TEST_F(InformerTest, BeginsAgainWhenAServerSendsNonsense) {
  informer_.start();
  for (const char* const line :
       {"nonsense", "{}", R"({"type":"ADDED","object":{"metadata":{"name":"a"})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a"},"spec":}})",
        R"({"type":"ADDED","object":{"metadata":{"name":["a"]}}})",
        R"({"type":"ADDED","object":7})", R"({"type":"ADDED","object":{}})"}) {
    const auto watch = next_request();
    EXPECT_THAT(watch->request().target, HasSubstr("sendInitialEvents=true")) << line;
    stream(*watch, event("ADDED", "b", 1) + line + "\n");
  }
  const auto watch = next_request();
  stream(*watch, R"({ "object": {"metadata": {"name": "c"}}, "type": "ADDED" })"
                 "\n");
  EXPECT_THAT(changes_, ElementsAre("+b", "+c"));
}

TEST_F(InformerTest, JoinsEventsThatComeInPieces) {
  informer_.start();
  const auto watch = next_request();
  const std::string text = event("ADDED", "a", 1);
  stream(*watch, text.substr(0, 20));
  send(*watch, text.substr(20));
  EXPECT_THAT(changes_, ElementsAre("+a"));
}

TEST_F(InformerTest, ResumesACutStreamAtTheLastRevision) {
  informer_.start();
  auto watch = next_request();
  stream(*watch, event("ADDED", "a", 1) + initial_end(7));
  watch->abort();
  watch = next_request();
  EXPECT_THAT(watch->request().target, HasSubstr("resourceVersion=7"));
  stream(*watch, event("ADDED", "b", 8));
  EXPECT_THAT(changes_, ElementsAre("+a", "+b"));
}

TEST_F(InformerTest, ListsAgainWhenTheHistoryIsGoneAndTellsTheDifference) {
  informer_.start();
  auto watch = next_request();
  stream(*watch, event("ADDED", "a", 1) + event("ADDED", "b", 2) + initial_end(2));
  send(*watch,
       "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
       "\"message\":\"too old\"}}\n");
  watch = next_request();
  EXPECT_THAT(watch->request().target, HasSubstr("sendInitialEvents=true"));
  stream(*watch, event("ADDED", "b", 9) + event("ADDED", "c", 10) + initial_end(10));
  EXPECT_THAT(changes_, ElementsAre("+a", "+b", "~b", "+c", "-a"));
}

// The server says why it cannot go on, and then ends the stream: that is one end, not two.
TEST_F(InformerTest, AsksOnceAfterAnErrorThatEndsTheStream) {
  informer_.start();
  auto watch = next_request();
  stream(*watch, event("ADDED", "a", 1) + initial_end(1));
  watch->send(http_text(R"({"type":"ERROR","object":{"kind":"Status","code":410}})"
                        "\n"));
  watch->finish();
  watch = next_request();
  stream(*watch, event("ADDED", "b", 9));
  loop_->run_for(std::chrono::minutes(1));
  EXPECT_THAT(asked_, IsEmpty()) << "the list that is coming in is not given up";
  EXPECT_EQ(informer_.position(), 0u) << "what else is listed may be older";
  send(*watch, initial_end(12));
  EXPECT_THAT(changes_, ElementsAre("+a", "+b", "-a"));
  EXPECT_EQ(informer_.position(), 12u);
}

TEST_F(InformerTest, WaitsLongerAfterEachAnswerThatIsOnlyAnError) {
  informer_.start();
  int asked = 0;
  for (int second = 0; second < 60; ++second) {
    loop_->run_for(std::chrono::seconds(1));
    for (; !asked_.empty(); asked_.pop_front(), ++asked) {
      stream(*asked_.front(), event("ADDED", "a", 1) +
                                  R"({"type":"ERROR","object":{"kind":"Status","code":500}})"
                                  "\n");
    }
  }
  EXPECT_LT(asked, 20);
  EXPECT_GT(asked, 4);
}

TEST_F(InformerTest, ListsAndWatchesWhereTheServerRefusesAStreamingList) {
  informer_.start();
  refuse(*next_request(), 422, "Invalid");
  const auto list = next_request();
  EXPECT_EQ(list->request().target, "/api/v1/pods");
  http::Response response{.status = 200, .headers = {}, .body = {}};
  response.body.push_back(http::Chunk::own(
      R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","namespace":"d","resourceVersion":"3"}}]})"));
  list->respond(std::move(response));
  const auto watch = next_request();
  EXPECT_THAT(watch->request().target, HasSubstr("resourceVersion=5"));
  EXPECT_TRUE(informer_.synced());
  EXPECT_THAT(changes_, ElementsAre("+a"));
}

TEST_F(InformerTest, KeepsOnlyMetadataIfThatIsAllThatIsWanted) {
  Informer slim(client_, pods_, {.metadata_only = true});
  slim.start();
  const auto watch = next_request();
  EXPECT_THAT(http::find_header(watch->request().headers, "Accept"),
              HasSubstr("as=PartialObjectMetadata;g=meta.k8s.io;v=v1"));
  stream(*watch,
         "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
         "\"namespace\":\"d\","
         "\"resourceVersion\":\"1\",\"annotations\":{\"long\":\"text\"},\"managedFields\":[{}]},"
         "\"spec\":{\"nodeName\":\"n\"}}}\n" +
             initial_end(1));
  EXPECT_TRUE(slim.synced());
  EXPECT_EQ(slim.find("d", "a")->bytes(),
            R"({"metadata":{"name":"a","namespace":"d","resourceVersion":"1"}})");
}

TEST_F(InformerTest, KeepsNobodysFields) {
  informer_.start();
  const auto watch = next_request();
  stream(*watch, event("ADDED", "a", 1, R"(,"managedFields":[{"manager":"m"}],"uid":"u")") +
                     event("ADDED", "b", 2) + initial_end(2));
  EXPECT_EQ(
      informer_.find("d", "a")->bytes(),
      R"({"kind":"Pod","metadata":{"name":"a","namespace":"d","resourceVersion":"1","uid":"u"}})");
  EXPECT_EQ(informer_.find("d", "b")->bytes(),
            R"({"kind":"Pod","metadata":{"name":"b","namespace":"d","resourceVersion":"2"}})");
}

TEST_F(InformerTest, AnInitialStateThatWasCutBeginsAgain) {
  informer_.start();
  auto watch = next_request();
  stream(*watch, event("ADDED", "a", 1));
  watch->abort();
  watch = next_request();
  EXPECT_THAT(watch->request().target, HasSubstr("sendInitialEvents=true"));
  stream(*watch, initial_end(4));
  EXPECT_THAT(changes_, ElementsAre("+a", "-a"));
}

}  // namespace informer_test
}  // namespace muster::client
