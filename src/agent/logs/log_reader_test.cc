#include "agent/logs/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <future>

#include "agent/logs/testing.h"
#include "server/testing.h"

namespace muster::agent {
namespace log_reader_test {

using server::testing::TestExchange;
using server::testing::TestExchangePtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LogFolder;

// With and without the kernel's word that a file has grown.
class LogReaderTest : public ::testing::TestWithParam<bool> {
 protected:
  server::LogSource::Wanted wanted(int run = 0) const {
    server::LogSource::Wanted wanted;
    wanted.ns = "default";
    wanted.pod = "p";
    wanted.uid = "u1";
    wanted.container = "main";
    wanted.run = run;
    wanted.container_id = "muster://abc";
    return wanted;
  }
  TestExchangePtr ask(server::LogSource::Wanted wanted) {
    auto exchange = std::make_shared<TestExchange>(http::Request{});
    reader.serve(std::move(wanted), exchange);
    return exchange;
  }
  TestExchangePtr follow(int run = 0) {
    auto following = wanted(run);
    following.follow = true;
    return ask(std::move(following));
  }
  template <class Condition>
  void run_until(const Condition& condition) {
    const Duration deadline = monotonic_now() + std::chrono::seconds(30);
    while (!condition()) {
      ASSERT_LT(monotonic_now(), deadline);
      run_for(std::chrono::milliseconds(1));
    }
  }
  void run_for(Duration span) {
    loop->after(span, [this] { loop->stop(); });
    loop->run();
  }
  // All that is posted by now; what is posted meanwhile waits.
  void run_posted() {
    loop->post([this] { loop->stop(); });
    loop->run();
  }
  std::string answer(const TestExchangePtr& exchange) {
    run_until([&] { return exchange->complete; });
    return exchange->body;
  }

  LogFolder folder;
  std::unique_ptr<Loop> loop = make_real_loop();
  LogReader reader{
      *loop,
      {.directory = folder.root, .notify = GetParam(), .poll_every = std::chrono::milliseconds(2)}};
};
INSTANTIATE_TEST_SUITE_P(Watching, LogReaderTest, ::testing::Bool());

TEST_P(LogReaderTest, GivesTheLogOfTheRunThatIsAskedFor) {
  folder.write("old", 0);
  folder.write("new", 1);
  const auto first = ask(wanted(0));
  EXPECT_EQ(answer(first), "old\n");
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(answer(ask(wanted(1))), "new\n");
}

TEST_P(LogReaderTest, ARunThatSaidNothingHasAnEmptyLog) {
  const auto exchange = ask(wanted());
  EXPECT_EQ(answer(exchange), "");
  EXPECT_EQ(exchange->status, 200);
}

TEST_P(LogReaderTest, ALogThatIsALinkIsNotShown) {
  std::filesystem::create_directories(folder.path().parent_path());
  std::filesystem::create_symlink("/etc/passwd", folder.path());
  const auto exchange = ask(wanted());
  EXPECT_THAT(answer(exchange),
              HasSubstr("\"unable to retrieve container logs for muster://abc\""));
  EXPECT_EQ(exchange->status, 400);
}

TEST_P(LogReaderTest, ALogThatCannotBeOpenedNowIsNotLost) {
  folder.write("one");
  run_for(std::chrono::milliseconds(1));
  rlimit before{}, none{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  none.rlim_max = before.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto exchange = ask(wanted());
  const std::string refusal = answer(exchange);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(exchange->status, 503);
  EXPECT_THAT(refusal, HasSubstr("Too many open files"));
  EXPECT_EQ(answer(ask(wanted())), "one\n");
}

TEST_P(LogReaderTest, OptionsChooseWhatIsShown) {
  for (const char* text : {"one", "two", "three"}) folder.write(text);
  auto tail = wanted();
  tail.tail_lines = 2;
  tail.timestamps = true;
  tail.limit_bytes = 40;
  EXPECT_EQ(answer(ask(tail)), "2026-11-15T09:00:00.000000000Z two\n2026-");
  auto since = wanted();
  since.since_time = parse_time("2026-11-15T09:00:00Z");
  EXPECT_EQ(answer(ask(since)), "one\ntwo\nthree\n");
  since.since_time = parse_time("2026-11-15T09:00:01Z");
  EXPECT_EQ(answer(ask(since)), "");
  auto recent = wanted();
  recent.since_seconds = 1'000'000'000;
  EXPECT_EQ(answer(ask(recent)), "one\ntwo\nthree\n");
}

TEST_P(LogReaderTest, FollowsUntilTheRunHasEnded) {
  folder.write("one");
  reader.began(LogFolder::key());
  const auto exchange = follow();
  run_until([&] { return exchange->body == "one\n"; });
  folder.write("two");
  run_until([&] { return exchange->body == "one\ntwo\n"; });
  EXPECT_FALSE(exchange->complete);
  folder.write("three");
  folder.write_raw("2026-11-15T09:00:00.000000000Z stdout F cut off");
  reader.ended(LogFolder::key());
  EXPECT_EQ(answer(exchange), "one\ntwo\nthree\ncut off\n");
}

TEST_P(LogReaderTest, FollowingARunThatIsOverEndsAtOnce) {
  folder.write("one");
  EXPECT_EQ(answer(follow()), "one\n");
}

// A client may be back before the agent has adopted what outlived the last one.
TEST_P(LogReaderTest, AfterARestartAFollowerWaitsForTheAgent) {
  folder.write("one");
  LogReader young(*loop, {.directory = folder.root,
                          .notify = GetParam(),
                          .runs_are_known = false,
                          .poll_every = std::chrono::milliseconds(2)});
  const auto ask_young = [&](int run) {
    auto exchange = std::make_shared<TestExchange>(http::Request{});
    auto following = wanted(run);
    following.follow = true;
    young.serve(following, exchange);
    return exchange;
  };
  folder.write("of a run that is over", 1);
  const auto goes_on = ask_young(0), over = ask_young(1);
  run_until([&] { return goes_on->body == "one\n" && !over->body.empty(); });
  run_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(goes_on->complete);
  EXPECT_FALSE(over->complete);
  young.began(LogFolder::key(0));
  young.settle();
  EXPECT_EQ(answer(over), "of a run that is over\n");
  EXPECT_FALSE(goes_on->complete);
  folder.write("two");
  young.ended(LogFolder::key(0));
  EXPECT_EQ(answer(goes_on), "one\ntwo\n");
}

TEST_P(LogReaderTest, AFollowerHasItsHeadersBeforeThereIsAnythingToShow) {
  folder.write_raw("");
  reader.began(LogFolder::key());
  const auto exchange = follow();
  run_until([&] { return exchange->status == 200; });
  EXPECT_EQ(exchange->body, "");
}

// Neither file nor folder is there before the first line.
TEST_P(LogReaderTest, AFollowerOfASilentRunSeesItsFirstLine) {
  reader.began(LogFolder::key());
  const auto first = follow(), second = follow();
  run_until([&] { return first->status == 200 && second->status == 200; });
  second->hang_up();
  run_posted();
  folder.write("one");
  run_until([&] { return first->body == "one\n"; });
  folder.write("two");
  run_until([&] { return first->body == "one\ntwo\n"; });
  EXPECT_FALSE(first->complete);
  reader.ended(LogFolder::key());
  EXPECT_EQ(answer(first), "one\ntwo\n");
}

TEST_P(LogReaderTest, AFollowerOfARunThatStaysSilentIsToldItsEnd) {
  reader.began(LogFolder::key());
  const auto exchange = follow();
  run_until([&] { return exchange->status == 200; });
  reader.ended(LogFolder::key());
  EXPECT_EQ(answer(exchange), "");
}

TEST_P(LogReaderTest, FollowsOverARotation) {
  folder.write("one");
  reader.began(LogFolder::key());
  const auto exchange = follow();
  run_until([&] { return exchange->body == "one\n"; });
  folder.write("two");
  folder.rotate();
  folder.write("three");
  run_until([&] { return exchange->body == "one\ntwo\nthree\n"; });
  folder.write("four");
  reader.ended(LogFolder::key());
  EXPECT_EQ(answer(exchange), "one\ntwo\nthree\nfour\n");
}

TEST_P(LogReaderTest, FollowersOfOneFolderAreServedEachAtItsOwnPace) {
  folder.write("one");
  reader.began(LogFolder::key());
  const auto first = follow();
  const auto second = follow();
  run_until([&] { return first->body == "one\n" && second->body == "one\n"; });
  first->hang_up();
  run_posted();  // a look at the file that was due before it still serves both
  folder.write("two");
  run_until([&] { return second->body == "one\ntwo\n"; });
  EXPECT_EQ(first->body, "one\n");
}

TEST_P(LogReaderTest, AClientThatReadsNothingHoldsLittle) {
  const std::string line(1000, 'x');
  for (int i = 0; i < 2'000; ++i) folder.write(line);
  auto exchange = std::make_shared<TestExchange>(http::Request{});
  exchange->stuck = true;
  reader.serve(wanted(), exchange);
  run_until([&] { return exchange->unsent > 256 * 1024; });
  run_for(std::chrono::milliseconds(20));
  EXPECT_LT(exchange->unsent, 512u * 1024);
  exchange->stuck = false;
  exchange->catch_up();
  run_until([&] { return exchange->complete; });
  EXPECT_EQ(exchange->body.size(), 2'000u * 1001);
}

// What an attached client is told.
struct Attached final : server::ProgramClient {
  void refuse(Error error) override { seen.push_back("refused: " + error.message); }
  void begin(std::shared_ptr<server::Program> the_program) override {
    program = std::move(the_program);
  }
  void output(bool is_error, std::string_view bytes) override {
    seen.push_back(fmt::format("{}: {}", is_error ? "err" : "out", bytes));
  }
  void input_taken(std::size_t) override {}
  void end(Result<int> code) override { seen.push_back(fmt::format("end {}", *code)); }

  std::shared_ptr<server::Program> program;
  std::vector<std::string> seen;
};

TEST_P(LogReaderTest, AnAttachedClientSeesWhatIsWrittenFromNowOn) {
  folder.write("before");
  reader.began(LogFolder::key());
  const auto client = std::make_shared<Attached>();
  reader.attach(LogFolder::key(), client);
  run_until([&] { return client->program != nullptr; });
  folder.write("one");
  folder.write("bad", 0, "stderr");
  run_until([&] { return client->seen.size() == 2; });
  client->program->hold_output(true);
  run_for(std::chrono::milliseconds(1));
  folder.write("two");
  run_for(std::chrono::milliseconds(20));
  EXPECT_THAT(client->seen, ElementsAre("out: one\n", "err: bad\n"));
  client->program->hold_output(false);
  reader.ended(LogFolder::key());
  run_until([&] { return client->seen.size() == 4; });
  EXPECT_THAT(client->seen, ElementsAre("out: one\n", "err: bad\n", "out: two\n", "end 0"));
}

TEST_P(LogReaderTest, AttachingToARunThatIsOverIsRefused) {
  const auto client = std::make_shared<Attached>();
  reader.attach(LogFolder::key(), client);
  run_until([&] { return !client->seen.empty(); });
  EXPECT_THAT(client->seen, ElementsAre("refused: container not found (\"main\")"));
}

struct Refused final : server::ProgramClient {
  void refuse(Error) override { on.set_value(std::this_thread::get_id()); }
  void begin(std::shared_ptr<server::Program>) override {}
  void output(bool, std::string_view) override {}
  void input_taken(std::size_t) override {}
  void end(Result<int>) override {}

  std::promise<std::thread::id> on;
};

TEST(LogThread, ReadsOnItsOwnThread) {
  const LogFolder folder;
  LogThread thread({.directory = folder.root});
  ASSERT_TRUE(thread.start());
  const auto client = std::make_shared<Refused>();
  thread.reader().attach(LogFolder::key(), client);
  EXPECT_NE(client->on.get_future().get(), std::this_thread::get_id());
}

}  // namespace log_reader_test
}  // namespace muster::agent
