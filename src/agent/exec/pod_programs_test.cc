#include "agent/exec/pod_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace pod_programs_test {

using ::testing::ElementsAre;

// Commands whose events the test makes.
class FakeExecs final : public runtime::Runtime {
 public:
  void on_change(std::function<void(const runtime::RunState&)>) override {}
  void start_pod(const runtime::PodSpec&, Done) override {}
  void start(const std::string&, const runtime::RunSpec&, Done) override {}
  void signal(const runtime::RunId&, int) override {}
  void kill(const runtime::RunId&) override {}
  void remove_pod(const std::string&, Done) override {}
  void adopt(std::function<void(std::vector<Adopted>)>) override {}
  const std::vector<runtime::Ability>& abilities() const override { return none_; }

  std::unique_ptr<runtime::Exec> exec(const runtime::ExecSpec& the_spec,
                                      runtime::ExecEvents the_events) override {
    spec = the_spec;
    events = std::move(the_events);
    return std::make_unique<FakeExec>(seen);
  }

  runtime::ExecSpec spec;
  runtime::ExecEvents events;
  std::vector<std::string> seen;  // by the command

 private:
  struct FakeExec final : runtime::Exec {
    explicit FakeExec(std::vector<std::string>& the_seen) : seen(the_seen) {}
    ~FakeExec() override { seen.emplace_back("hang-up"); }
    void input(std::string_view bytes) override { seen.push_back(fmt::format("in {}", bytes)); }
    void end_input() override { seen.emplace_back("end of input"); }
    void kill() override {}
    void resize(int columns, int rows) override {
      seen.push_back(fmt::format("{}x{}", columns, rows));
    }
    void pause_output(bool paused) override { seen.emplace_back(paused ? "pause" : "go on"); }
    std::vector<std::string>& seen;
  };
  std::vector<runtime::Ability> none_;
};

struct FakeClient final : server::ProgramClient {
  void refuse(Error why) override { seen.push_back("refused: " + why.message); }
  void begin(std::shared_ptr<server::Program> the_program) override {
    program = std::move(the_program);
  }
  void output(bool is_error, std::string_view bytes) override {
    seen.push_back(fmt::format("{} {}", is_error ? "err" : "out", bytes));
  }
  void input_taken(std::size_t bytes) override { seen.push_back(fmt::format("took {}", bytes)); }
  void end(Result<int> exit_code) override {
    seen.push_back(exit_code ? fmt::format("exit {}", *exit_code) : exit_code.error().message);
  }
  std::shared_ptr<server::Program> program;
  std::vector<std::string> seen;
};

class PodProgramsTest : public ::testing::Test {
 protected:
  PodProgramsTest() {
    programs.connect(
        execs,
        [](const std::string& uid, const std::string& container) -> std::optional<runtime::RunId> {
          if (container != "main") return std::nullopt;
          return runtime::RunId{.pod_uid = uid, .container = container, .number = 7};
        });
  }
  std::shared_ptr<FakeClient> exec(std::string container = "main") {
    auto client = std::make_shared<FakeClient>();
    programs.exec({.ns = "a",
                   .pod = "p",
                   .uid = "u1",
                   .container = std::move(container),
                   .command = {"sh", "-c", "true"},
                   .input = true,
                   .tty = true},
                  client);
    settle();
    return client;
  }
  void settle() {
    loop->post([this] { loop->stop(); });
    loop->run();
  }

  std::unique_ptr<Loop> loop = make_real_loop();
  LogReader logs{*loop, {.directory = "/nonexistent"}};
  FakeExecs execs;
  PodPrograms programs{*loop, logs};
};

TEST_F(PodProgramsTest, ACommandRunsInTheRunOfTheContainer) {
  const auto client = exec();
  ASSERT_NE(client->program, nullptr);
  EXPECT_EQ(execs.spec.run, (runtime::RunId{.pod_uid = "u1", .container = "main", .number = 7}));
  EXPECT_THAT(execs.spec.argv, ElementsAre("sh", "-c", "true"));
  EXPECT_TRUE(execs.spec.tty);
  EXPECT_TRUE(execs.spec.with_input);
  client->program->input("hello");
  client->program->resize(80, 24);
  client->program->hold_output(true);
  client->program->hold_output(false);
  client->program->end_input();
  settle();
  EXPECT_THAT(execs.seen, ElementsAre("in hello", "80x24", "pause", "go on", "end of input"));
  execs.events.input_taken(5);
  execs.events.output(false, "one");
  execs.events.output(true, "two");
  auto end = execs.events.end;
  end(3);
  EXPECT_THAT(client->seen, ElementsAre("took 5", "out one", "err two", "exit 3"));
  EXPECT_EQ(execs.seen.back(), "hang-up");
  client->program->input("too late");
  client->program.reset();
  settle();
}

TEST_F(PodProgramsTest, AClientThatGoesTakesItsCommandAway) {
  const auto client = exec();
  client->program.reset();
  settle();
  EXPECT_THAT(execs.seen, ElementsAre("hang-up"));
}

TEST_F(PodProgramsTest, AContainerThatDoesNotRunIsNotFound) {
  EXPECT_THAT(exec("other")->seen, ElementsAre("refused: container not found (\"other\")"));
}

TEST_F(PodProgramsTest, ANodeThatStopsEndsWhatRuns) {
  const auto client = exec();
  programs.disconnect();
  EXPECT_THAT(client->seen, ElementsAre("the node agent stops"));
  EXPECT_THAT(execs.seen, ElementsAre("hang-up"));
  client->program->input("too late");
  client->program.reset();
  EXPECT_EQ(exec()->program, nullptr);
}

TEST_F(PodProgramsTest, WithoutARuntimeNothingRuns) {
  PodPrograms unconnected(*loop, logs);
  const auto client = std::make_shared<FakeClient>();
  unconnected.exec({.ns = "a", .pod = "p", .uid = "u1", .container = "main", .command = {"x"}},
                   client);
  settle();
  EXPECT_THAT(client->seen, ElementsAre("refused: container not found (\"main\")"));
}

TEST_F(PodProgramsTest, AttachingGoesToTheLogOfTheRun) {
  const auto client = std::make_shared<FakeClient>();
  programs.attach({.ns = "a", .pod = "p", .uid = "u1", .container = "main"}, client);
  settle();
  settle();
  EXPECT_THAT(client->seen, ElementsAre("refused: container not found (\"main\")"));  // no log
}

}  // namespace pod_programs_test
}  // namespace muster::agent
