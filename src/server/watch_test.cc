// Watches: initial events, changes, selectors, bookmarks, ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing.h"

namespace muster::server {
namespace watch_test {

using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestExchangePtr;
using testing::TestServer;

class Watch : public ::testing::Test {
 protected:
  Watch() { server.make_namespace("a"); }

  TestExchangePtr make(const std::string& name, const std::string& labels = "{}") {
    return server.admin("POST", kMaps,
                        R"({"metadata":{"name":")" + name + R"(","labels":)" + labels + "}}");
  }
  void label(const std::string& name, const std::string& labels) {
    server.patch(std::string(kMaps) + "/" + name, R"({"metadata":{"labels":)" + labels + "}}");
  }
  void remove(const std::string& name) { server.admin("DELETE", std::string(kMaps) + "/" + name); }
  TestExchangePtr watch(const std::string& query, http::Headers headers = {}) {
    return server.admin("GET", std::string(kMaps) + "?watch=true&" + query, "", std::move(headers));
  }
  std::string now() { return std::to_string(server.store->snapshot()->revision()); }

  // "ADDED c0" and so on; a bookmark as "BOOKMARK", the one after the initial events as "END".
  static std::vector<std::string> events(const testing::TestExchange& stream) {
    std::vector<std::string> out;
    for (const std::string& line : stream.lines()) {
      json::Arena arena;
      const json::Value event = *json::parse(arena, line);
      const json::Value metadata = event.get({"object", "metadata"});
      const std::string_view type = event.get("type").as_string();
      if (type == "BOOKMARK") {
        out.emplace_back(metadata.get("annotations").is_null() ? "BOOKMARK" : "END");
      } else {
        out.push_back(fmt::format("{} {}", type, metadata.get("name").as_string()));
      }
    }
    return out;
  }

  static constexpr const char* kMaps = "/api/v1/namespaces/a/configmaps";
  TestServer server;
};

TEST_F(Watch, ShowsWhatHappensAfterAVersion) {
  make("before");
  const TestExchangePtr stream = watch("resourceVersion=" + now());
  EXPECT_EQ(stream->status, 200);
  EXPECT_THAT(events(*stream), IsEmpty());
  make("c");
  label("c", R"({"x":"1"})");
  remove("c");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED c", "MODIFIED c", "DELETED c"));
  EXPECT_FALSE(stream->complete);
}

TEST_F(Watch, AResumedWatchMissesNothing) {
  const std::string start = now();
  make("c");
  make("d");
  remove("c");
  EXPECT_THAT(events(*watch("resourceVersion=" + start)),
              ElementsAre("ADDED c", "ADDED d", "DELETED c"));
}

TEST_F(Watch, WithoutAVersionItOpensWithThePresentState) {
  make("b");
  make("a");
  EXPECT_THAT(events(*watch("")), ElementsAre("ADDED a", "ADDED b"));
  EXPECT_THAT(events(*watch("resourceVersion=0&allowWatchBookmarks=true")),
              ElementsAre("ADDED a", "ADDED b", "END"));
}

TEST_F(Watch, AStreamingListEndsItsStateWithABookmarkOfItsVersion) {
  make("a");
  const std::string version = now();
  const TestExchangePtr stream =
      watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  make("b");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED a", "END", "ADDED b"));
  json::Arena arena;
  EXPECT_EQ(json::parse(arena, stream->lines()[1])
                ->get({"object", "metadata", "resourceVersion"})
                .as_string(),
            version);
}

TEST_F(Watch, SendInitialEventsFalseShowsOnlyWhatIsNew) {
  make("a");
  const TestExchangePtr stream = watch("sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  make("b");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED b"));
}

TEST_F(Watch, ObjectsComeAndGoAsTheyMatchTheSelector) {
  const TestExchangePtr stream = watch("labelSelector=x%3D1&resourceVersion=" + now());
  make("c", R"({"x":"0"})");
  label("c", R"({"x":"1"})");
  server.patch(std::string(kMaps) + "/c", R"({"data":{"k":"v"}})");
  label("c", R"({"x":"2"})");
  const std::string left = now();
  remove("c");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED c", "MODIFIED c", "DELETED c"));
  // What is sent as deleted is the last state that matched, at the version of the change.
  json::Arena arena;
  const json::Value gone = json::parse(arena, stream->lines().back())->get("object");
  EXPECT_EQ(gone.get({"metadata", "labels", "x"}).as_string(), "1");
  EXPECT_EQ(gone.get({"metadata", "resourceVersion"}).as_string(), left);
}

TEST_F(Watch, OtherNamespacesAndOtherNamesStayOut) {
  server.make_namespace("b");
  const TestExchangePtr by_name =
      server.admin("GET", std::string(kMaps) + "/c?watch=true&resourceVersion=" + now());
  const TestExchangePtr by_namespace = watch("resourceVersion=" + now());
  make("c");
  make("d");
  server.admin("POST", "/api/v1/namespaces/b/configmaps", R"({"metadata":{"name":"c"}})");
  EXPECT_THAT(events(*by_name), ElementsAre("ADDED c"));
  EXPECT_THAT(events(*by_namespace), ElementsAre("ADDED c", "ADDED d"));
}

TEST_F(Watch, EndsAtItsTimeout) {
  const TestExchangePtr stream = watch("timeoutSeconds=7&resourceVersion=" + now());
  EXPECT_EQ(stream->timer_delay, std::chrono::seconds(7));
  stream->fire();
  EXPECT_TRUE(stream->complete);
  EXPECT_FALSE(stream->aborted);
}

TEST_F(Watch, WithoutATimeoutItLastsHalfAnHourToAnHour) {
  const TestExchangePtr stream = watch("resourceVersion=" + now());
  EXPECT_GE(stream->timer_delay, std::chrono::minutes(30));
  EXPECT_LT(stream->timer_delay, std::chrono::hours(1));
}

TEST_F(Watch, BookmarksComeEveryMinuteAndBeforeTheEnd) {
  const TestExchangePtr stream =
      watch("allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion=" + now());
  EXPECT_EQ(stream->timer_delay, std::chrono::seconds(60));
  server.make_namespace("elsewhere");  // other kinds move the version on, too
  stream->fire();
  EXPECT_THAT(events(*stream), ElementsAre("BOOKMARK"));
  json::Arena arena;
  EXPECT_EQ(json::parse(arena, stream->lines()[0])
                ->get({"object", "metadata", "resourceVersion"})
                .as_string(),
            now());
  EXPECT_EQ(stream->timer_delay, std::chrono::seconds(38));
  stream->fire();
  EXPECT_THAT(events(*stream), ElementsAre("BOOKMARK", "BOOKMARK"));
  EXPECT_EQ(stream->timer_delay, std::chrono::seconds(2));
  stream->fire();
  EXPECT_TRUE(stream->complete);
}

TEST_F(Watch, AJumpOfTheClockChangesNothing) {
  const TestExchangePtr stream =
      watch("allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion=" + now());
  server.clock.advance(std::chrono::hours(24));
  stream->fire();
  EXPECT_FALSE(stream->complete);
  EXPECT_EQ(stream->timer_delay, std::chrono::seconds(38));
}

TEST_F(Watch, AVersionThatIsForgottenIsAnErrorInTheStream) {
  const std::string old = now();
  make("a");
  server.store->compact();
  const TestExchangePtr stream = watch("resourceVersion=" + old);
  EXPECT_EQ(stream->status, 200);
  EXPECT_TRUE(stream->complete);
  json::Arena arena;
  const json::Value event = *json::parse(arena, stream->lines()[0]);
  EXPECT_EQ(event.get("type").as_string(), "ERROR");
  EXPECT_EQ(event.get({"object", "code"}).as_int(), 410);
  EXPECT_EQ(event.get({"object", "reason"}).as_string(), "Expired");
}

TEST_F(Watch, AFutureVersionJustWaits) {
  const TestExchangePtr stream =
      watch("resourceVersion=" + std::to_string(server.store->snapshot()->revision() + 1));
  make("not-yet");
  make("now");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED now"));
}

TEST_F(Watch, AReaderThatReadsNothingIsCutAndCostsNoMemory) {
  const std::string big =
      R"({"metadata":{"name":"big"},"data":{"k":")" + std::string(900'000, 'x') + R"("}})";
  const TestExchangePtr stream = watch("resourceVersion=" + now());
  stream->stuck = true;
  server.admin("POST", kMaps, big);
  for (int i = 0; i < 20; ++i)
    server.patch(std::string(kMaps) + "/big", R"({"data":{"n":")" + std::to_string(i) + R"("}})");
  EXPECT_LT(stream->unsent, 6u << 20) << "what does not fit stays in the store's history";
  int polls = 0;
  while (!stream->complete && polls < 10'000) {
    server.clock.advance(std::chrono::milliseconds(20));
    ASSERT_TRUE(stream->fire());
    ++polls;
  }
  EXPECT_TRUE(stream->aborted);
  EXPECT_EQ(polls, 3'001) << "a minute of looking every 20 ms";
}

TEST_F(Watch, ASlowReaderGetsEverythingInTheEnd) {
  const std::string filler(900'000, 'x');
  const TestExchangePtr stream = watch("resourceVersion=" + now());
  stream->stuck = true;
  for (int i = 0; i < 10; ++i) {
    server.admin("POST", kMaps,
                 R"({"metadata":{"name":"c)" + std::to_string(i) + R"("},"data":{"k":")" + filler +
                     R"("}})");
  }
  EXPECT_LT(events(*stream).size(), 10u);
  stream->stuck = false;
  stream->unsent = 0;
  stream->fire();
  EXPECT_EQ(events(*stream).size(), 10u);
}

TEST_F(Watch, TablesSendTheirColumnsOnce) {
  make("a");
  const TestExchangePtr stream =
      watch("", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  make("b");
  json::Arena arena;
  const json::Value first = json::parse(arena, stream->lines()[0])->get("object");
  const json::Value second = json::parse(arena, stream->lines()[1])->get("object");
  EXPECT_TRUE(first.get("columnDefinitions").is_array());
  EXPECT_TRUE(second.get("columnDefinitions").is_null());
  EXPECT_EQ(second.get("rows").item(0).get("cells").item(0).as_string(), "b");
}

TEST_F(Watch, AfterHangingUpNothingIsSent) {
  const TestExchangePtr stream = watch("resourceVersion=" + now());
  stream->hang_up();
  make("a");
  EXPECT_THAT(events(*stream), IsEmpty());
}

TEST_F(Watch, RefusesParametersThatContradictEachOther) {
  EXPECT_EQ(watch("sendInitialEvents=true")->status, 422);
  EXPECT_EQ(watch("resourceVersionMatch=NotOlderThan")->status, 422);
  EXPECT_EQ(watch("resourceVersion=abc")->status, 500);
}

}  // namespace watch_test
}  // namespace muster::server
