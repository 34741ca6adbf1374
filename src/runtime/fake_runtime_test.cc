#include "runtime/fake_runtime.h"

#include <csignal>

#include "base/time.h"

namespace muster::runtime {
namespace fake_runtime_test {

using namespace std::chrono_literals;
using testing::ElementsAre;

class FakeRuntimeTest : public testing::Test {
 protected:
  void connect() {
    runtime_ = machine_.connect();
    runtime_->on_change([this](const RunState& state) { told_.push_back(state); });
  }
  void start_pod() {
    runtime_->start_pod({.uid = "u"}, [](Status status) { EXPECT_TRUE(status); });
  }
  void start(int number = 0) {
    runtime_->start("u", {.container = "main", .number = number, .argv = {"prog"}},
                    [](Status status) { EXPECT_TRUE(status); });
  }

  std::unique_ptr<VirtualLoop> loop_ = make_virtual_loop(Time{1h});
  FakeMachine machine_{*loop_};
  std::unique_ptr<Runtime> runtime_;
  std::vector<RunState> told_;
  const RunId run_{"u", "main", 0};
};

TEST_F(FakeRuntimeTest, ScriptedProgramRunsAndEndsInItsOwnTime) {
  machine_.set_programs(
      [](const RunSpec&) { return FakeProgram{.lasts = 5s, .exit = {.code = 3}}; });
  connect();
  start_pod();
  start();
  loop_->run();
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0].phase, RunPhase::kRunning);
  EXPECT_EQ(told_[1].phase, RunPhase::kExited);
  EXPECT_EQ(told_[1].exit->code, 3);
  EXPECT_EQ(told_[1].exit->finished - *told_[1].started, 5s);
}

TEST_F(FakeRuntimeTest, NextAgentFindsTheExitThatNobodySaw) {
  connect();
  start_pod();
  start();
  loop_->run();
  runtime_.reset();
  machine_.end(run_, {.code = 1});
  connect();
  std::vector<Runtime::Adopted> adopted;
  runtime_->adopt([&](std::vector<Runtime::Adopted> pods) { adopted = std::move(pods); });
  loop_->run();
  ASSERT_EQ(adopted.size(), 1U);
  ASSERT_EQ(adopted[0].runs.size(), 1U);
  EXPECT_EQ(adopted[0].runs[0].container_id, told_[0].container_id);
  EXPECT_EQ(adopted[0].runs[0].exit->code, 1);
}

TEST_F(FakeRuntimeTest, StubbornProgramEndsOnlyWhenItIsKilled) {
  machine_.set_programs([](const RunSpec&) { return FakeProgram{.ends_on_sigterm = false}; });
  connect();
  start_pod();
  start();
  loop_->run();
  runtime_->signal(run_, SIGTERM);
  EXPECT_EQ(machine_.find(run_)->state.phase, RunPhase::kRunning);
  runtime_->remove_pod("u", [](Status status) { EXPECT_FALSE(status); });
  runtime_->kill(run_);
  EXPECT_EQ(machine_.find(run_)->state.exit->code, 137);
  EXPECT_THAT(machine_.find(run_)->signals, ElementsAre(SIGTERM, SIGKILL));
  runtime_->remove_pod("u", [](Status status) { EXPECT_TRUE(status); });
  loop_->run();
  EXPECT_TRUE(machine_.pods().empty());
}

TEST_F(FakeRuntimeTest, CommandDoesWhatTheTestSays) {
  machine_.set_commands([](const ExecSpec&) { return FakeCommand{.lasts = {}}; });
  connect();
  start_pod();
  start();
  loop_->run();
  std::string output;
  std::vector<int> ends;
  const ExecEvents events{.output = [&](bool, std::string_view bytes) { output += bytes; },
                          .end = [&](Result<int> code) { ends.push_back(code.value_or(-1)); }};
  const auto asked = runtime_->exec({.run = run_, .argv = {"one"}}, events);
  const auto killed = runtime_->exec({.run = run_, .argv = {"two"}}, events);
  runtime_->exec({.run = run_, .argv = {"three"}}, events);  // nobody waits for it
  asked->input("in");
  machine_.print(0, false, "out");
  machine_.end(0, 4);
  killed->kill();
  loop_->run();
  EXPECT_EQ(output, "out");
  EXPECT_THAT(ends, ElementsAre(4, 137));
  ASSERT_EQ(machine_.commands().size(), 3U);
  EXPECT_EQ(machine_.commands()[0].input, "in");
  EXPECT_TRUE(machine_.commands()[2].hung_up);
}

}  // namespace fake_runtime_test
}  // namespace muster::runtime
