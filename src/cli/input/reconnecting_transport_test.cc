#include "cli/input/reconnecting_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace muster::cli {
namespace reconnecting_transport_test {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Servers by address: those that are up answer with their address and the target.
struct World {
  std::unique_ptr<VirtualLoop> loop = make_virtual_loop(Time(seconds(1'800'000'000)));
  std::map<std::string, bool> up;
  std::string address = "a";  // what the kubeconfig says
  std::vector<client::Transport::StreamEvents*> streams;
  std::vector<std::string> asked;
};

class FakeTransport final : public client::Transport {
 public:
  FakeTransport(World& world, std::string address) : world_(world), address_(std::move(address)) {}

  void send(http::Request request, Done done) override {
    world_.loop->post([this, target = request.target, done = std::move(done)]() mutable {
      world_.asked.push_back(target);
      if (!world_.up[address_]) return done(fail(Code::kUnavailable, "refused"));
      done(client::Answer{200, {}, address_ + target});
    });
  }

  std::unique_ptr<Stream> stream(http::Request, StreamEvents events) override {
    auto stream = std::make_unique<FakeStream>(world_, std::move(events));
    world_.loop->post([this, open = stream->open, events = &stream->events] {
      if (!*open) return;
      if (!world_.up[address_]) return events->end(fail(Code::kUnavailable, "refused"));
      events->head(200);
    });
    return stream;
  }

  Loop& loop() override { return *world_.loop; }

 private:
  struct FakeStream final : Stream {
    FakeStream(World& all, StreamEvents told) : world(all), events(std::move(told)) {
      world.streams.push_back(&events);
    }
    ~FakeStream() override {
      *open = false;
      std::erase(world.streams, &events);
    }
    World& world;
    StreamEvents events;
    std::shared_ptr<bool> open = std::make_shared<bool>(true);
  };
  World& world_;
  std::string address_;
};

class ReconnectingTransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world.up["a"] = true;
    auto opened = ReconnectingTransport::open(
        *world.loop, {.patience = seconds(30),
                      .find = [this]() -> Result<client::ServerConfig> {
                        client::ServerConfig server;
                        server.url = world.address;
                        return server;
                      },
                      .connect = [this](const client::ServerConfig& server)
                          -> Result<std::unique_ptr<client::Transport>> {
                        return std::make_unique<FakeTransport>(world, server.url);
                      }});
    ASSERT_TRUE(opened);
    transport = *std::move(opened);
    transport->on_absence([this](std::string_view note) { notes.emplace_back(note); },
                          [this](const Error& why) { lost.push_back(why.message); });
  }

  void ask(std::string method, std::string target) {
    transport->send({.method = std::move(method),
                     .target = std::move(target),
                     .headers = {},
                     .body = {},
                     .peer = {}},
                    [this](Result<client::Answer> answer) {
                      answers.push_back(answer ? answer->body : "failed");
                    });
  }
  std::unique_ptr<client::Transport::Stream> open_stream() {
    return transport->stream(
        {.method = "GET", .target = "/watch", .headers = {}, .body = {}, .peer = {}},
        {.head = [this](int) { answers.emplace_back("begun"); },
         .data = {},
         .end = [this](const Status& why) { answers.emplace_back(why ? "ended" : "cut"); }});
  }
  void pass(Duration span) { world.loop->run_for(span); }

  World world;
  std::unique_ptr<ReconnectingTransport> transport;
  std::vector<std::string> answers, notes, lost;
};

TEST_F(ReconnectingTransportTest, AServerThatWasNeverThereIsToldAtOnce) {
  world.up["a"] = false;
  ask("GET", "/x");
  const auto stream = open_stream();
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("failed", "cut"));
  EXPECT_TRUE(lost.empty());
}

TEST_F(ReconnectingTransportTest, WhatIsAskedDuringARestartIsAnsweredAfterIt) {
  ask("GET", "/before");
  pass(seconds(1));
  world.up["a"] = false;
  ask("GET", "/during");
  const auto stream = open_stream();
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("a/before"));
  world.up["a"] = true;
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("a/before", "a/during", "begun"));
  EXPECT_TRUE(notes.empty()) << "nobody would have noticed";
}

TEST_F(ReconnectingTransportTest, AServerThatComesBackElsewhereIsFound) {
  ask("GET", "/before");
  pass(seconds(1));
  world.up["a"] = false;
  const auto stream = open_stream();
  ask("GET", "/during");
  pass(seconds(5));
  world.up["b"] = true;
  world.address = "b";
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("a/before", "begun", "b/during"));
  EXPECT_THAT(notes, ElementsAre("the server at a does not answer; waiting up to 30s for it",
                                 "the server is back"));
}

TEST_F(ReconnectingTransportTest, AStreamThatHadBegunIsCutForItsReader) {
  const auto stream = open_stream();
  pass(seconds(1));
  ASSERT_EQ(world.streams.size(), 1u);
  world.up["a"] = false;
  world.streams[0]->end(fail(Code::kUnavailable, "reset"));
  EXPECT_THAT(answers, ElementsAre("begun", "cut"));
}

TEST_F(ReconnectingTransportTest, PatienceEnds) {
  ask("GET", "/before");
  pass(seconds(1));
  world.up["a"] = false;
  ask("GET", "/during");
  const auto stream = open_stream();
  pass(seconds(29));
  EXPECT_TRUE(lost.empty());
  pass(seconds(2));
  EXPECT_THAT(answers, ElementsAre("a/before", "failed", "cut"));
  EXPECT_THAT(lost, ElementsAre(HasSubstr("cannot be reached any more, for 30s now: refused")));
  ask("GET", "/after");
  pass(seconds(1));
  EXPECT_EQ(answers.back(), "failed");
  EXPECT_EQ(lost.size(), 1u);
}

TEST_F(ReconnectingTransportTest, WhatMayHaveBeenDoneIsNotAskedTwice) {
  ask("GET", "/before");
  pass(seconds(1));
  world.up["a"] = false;
  ask("POST", "/create");
  ask("DELETE", "/gone");
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("a/before", "failed"));
  world.up["a"] = true;
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("a/before", "failed", "a/gone"));
}

TEST_F(ReconnectingTransportTest, AStreamThatNobodyWantsAnyMoreIsNotOpened) {
  ask("GET", "/before");
  pass(seconds(1));
  world.up["a"] = false;
  auto stream = open_stream();
  pass(seconds(1));
  stream = nullptr;
  world.up["a"] = true;
  pass(seconds(1));
  EXPECT_THAT(answers, ElementsAre("a/before"));
  EXPECT_TRUE(world.streams.empty());
}

}  // namespace reconnecting_transport_test
}  // namespace muster::cli
