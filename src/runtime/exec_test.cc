// Commands beside a container's own processes.
#include <gmock/gmock.h>

#include "runtime/testing.h"

namespace muster::runtime {
namespace exec_test {

using testing::HasSubstr;
using testing::IsEmpty;

class ExecTest : public RuntimeFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    connect(GetParam());
    start_pod();
    RunSpec spec = shell("exec sleep 1000");
    spec.environment.emplace_back("COLOUR=green");
    spec.working_directory = "/usr";
    run_ = start(spec);
    wait_for(run_, RunPhase::kRunning);
  }

  void begin(const std::string& script, bool tty = false, bool with_input = false) {
    begin(ExecSpec{run_, {"sh", "-c", script}, tty, with_input});
  }
  void begin(const ExecSpec& spec) {
    out_.clear();
    err_.clear();
    end_.reset();
    exec_ = runtime_->exec(spec, {.output =
                                      [this](bool is_error, std::string_view bytes) {
                                        EXPECT_FALSE(end_) << "output after the end";
                                        (is_error ? err_ : out_) += bytes;
                                        look();
                                      },
                                  .input_taken =
                                      [this](std::size_t bytes) {
                                        taken_ += bytes;
                                        look();
                                      },
                                  .end =
                                      [this](Result<int> code) {
                                        end_ = std::move(code);
                                        look();
                                      }});
  }
  // A second command, from its start to its end, while the first one is under way.
  void begin_other_and_wait(const std::string& script) {
    bool ended = false;
    const auto other = runtime_->exec({run_, {"sh", "-c", script}}, {.end = [&](Result<int>) {
                                        ended = true;
                                        look();
                                      }});
    wait_until([&] { return ended; });
  }
  Result<int> end() {
    wait_until([&] { return end_.has_value(); });
    return end_.value_or(-1);
  }

  RunId run_;
  std::unique_ptr<Exec> exec_;
  std::string out_, err_;
  std::size_t taken_ = 0;
  std::optional<Result<int>> end_;
};
INSTANTIATE_TEST_SUITE_P(Isolation, ExecTest, testing::Bool(), [](const auto& mode) {
  return mode.param ? "Namespaces" : "PlainProcesses";
});

TEST_P(ExecTest, CommandHasTheContainersEnvironmentAndDirectory) {
  begin("echo $COLOUR; pwd; echo oops >&2; exit 9");
  EXPECT_EQ(end().value_or(-1), 9);
  EXPECT_EQ(out_, "green\n/usr\n");
  EXPECT_EQ(err_, "oops\n");
}

TEST_P(ExecTest, CommandLivesWhereTheContainerLives) {
  begin("hostname; cat /proc/1/comm");
  EXPECT_EQ(end().value_or(-1), 0);
  if (GetParam()) {
    EXPECT_EQ(out_, "host-of-pod\nmuster-init\n");
  } else {
    EXPECT_EQ(out_, read_text("/proc/sys/kernel/hostname") + read_text("/proc/1/comm"));
  }
}

TEST_P(ExecTest, InputGoesInUntilItsEndWhileOutputGoesOn) {
  begin("wc -c; echo done", false, true);
  const std::string megabyte(1 << 20, 'x');
  exec_->input(megabyte);
  exec_->input(megabyte);
  exec_->end_input();
  EXPECT_EQ(end().value_or(-1), 0);
  EXPECT_EQ(out_, "2097152\ndone\n");
}

TEST_P(ExecTest, WithoutInputThereIsAnEndAtOnce) {
  begin("cat; echo empty");
  EXPECT_EQ(end().value_or(-1), 0);
  EXPECT_EQ(out_, "empty\n");
}

TEST_P(ExecTest, LargeOutputIsCompleteBeforeTheEnd) {
  begin("seq 1 200000");
  EXPECT_EQ(end().value_or(-1), 0);
  EXPECT_EQ(out_.size(), 1288895U);
}

TEST_P(ExecTest, TerminalIsOneAndChangesItsSize) {
  begin("tty >/dev/null && echo terminal; stty size; read line; stty size; echo got $line", true,
        true);
  exec_->resize(132, 43);
  wait_until([&] { return out_.find("terminal\r\n43 132") != std::string::npos; });
  exec_->resize(80, 25);
  exec_->input("hello\n");
  EXPECT_EQ(end().value_or(-1), 0);
  EXPECT_THAT(out_, HasSubstr("25 80\r\ngot hello\r\n"));
  EXPECT_EQ(err_, "");
}

TEST_P(ExecTest, TerminalTakesInputThatCameBeforeIt) {
  begin("read line; echo got $line", true, true);
  exec_->input("early\n");
  exec_->end_input();
  EXPECT_EQ(end().value_or(-1), 0);
  EXPECT_THAT(out_, HasSubstr("got early\r\n"));
}

TEST_P(ExecTest, CommandThatGetsNoTerminalOrNoProgramSaysSo) {
  begin(ExecSpec{run_, {"no-such-command"}, true, true});
  exec_->input("lost\n");
  ASSERT_FALSE(end());
  EXPECT_THAT(end().error().message, HasSubstr("not found in $PATH"));
}

// Of another pod, with the same user: neither by its name nor among those that it can see.
TEST_P(ExecTest, TerminalIsSeenInItsContainerOnly) {
  if (!GetParam()) GTEST_SKIP() << "there is one set of terminals without mount namespaces";
  const std::string look = "ls /dev/pts | grep -x '[0-9]*'";
  begin("tty; " + look + "; test -w $(tty) && echo writable; read line", true, true);
  wait_until([&] { return out_.find("writable") != std::string::npos; });
  EXPECT_THAT(out_, HasSubstr("/dev/pts/0\r\n0\r\n"));
  start_pod("other");
  RunSpec spec = shell(look + "; echo none; script -qc 'tty' /dev/null </dev/null", 1);
  exit_of(start(spec, "other"));
  EXPECT_THAT(log_lines(1), testing::ElementsAre("stdout F none", HasSubstr("/dev/pts/0")));
}

TEST_P(ExecTest, CommandThatIsNotThereSaysSo) {
  begin(ExecSpec{run_, {"no-such-command"}});
  const Result<int> result = end();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "exec: \"no-such-command\": executable file not found in $PATH");
}

TEST_P(ExecTest, ContainerThatIsGoneSaysSo) {
  runtime_->kill(run_);
  exit_of(run_);
  begin("true");
  ASSERT_FALSE(end());
  EXPECT_EQ(end().error().message, "container not found (\"main\")");
}

TEST_P(ExecTest, CommandGoesWithItsContainer) {
  const std::string marker = unique_seconds();
  begin("echo up; exec sleep " + marker);
  wait_until([&] { return out_ == "up\n"; });
  runtime_->kill(run_);
  EXPECT_EQ(end().value_or(-1), 137);
  exit_of(run_);
  EXPECT_THAT(processes_with(marker), IsEmpty());
}

TEST_P(ExecTest, KilledCommandTakesItsChildrenWithIt) {
  const std::string marker = unique_seconds();
  begin(fmt::format("trap '' HUP TERM; sleep {0} & echo up; sleep {0}", marker));
  wait_until([&] { return out_ == "up\n"; });
  exec_->kill();
  EXPECT_EQ(end().value_or(-1), 137);
  while (!processes_with(marker).empty()) {  // the child is collected by the container's init
  }
  EXPECT_FALSE(is(run_, RunPhase::kExited));
}

TEST_P(ExecTest, PausedOutputWaitsAndSoDoesTheEnd) {
  begin("seq 1 1000; echo last");
  exec_->pause_output(true);
  begin_other_and_wait("true");
  EXPECT_EQ(out_, "");
  EXPECT_FALSE(end_);
  exec_->pause_output(false);
  EXPECT_EQ(end().value_or(-1), 0);
  EXPECT_THAT(out_, testing::EndsWith("1000\nlast\n"));
}

TEST_P(ExecTest, InputThatWasTakenIsTold) {
  begin("head -c 100000 >/dev/null; exec cat >/dev/null", false, true);
  exec_->input(std::string(300'000, 'x'));
  wait_until([&] { return taken_ == 300'000; });
  exec_->end_input();
  EXPECT_EQ(end().value_or(-1), 0);
}

TEST_P(ExecTest, WhoeverLosesInterestHangsUp) {
  const std::string note = directory_ + "/note";
  begin(
      fmt::format("trap 'echo hung up > {0}.new; mv {0}.new {0}; exit' HUP; echo up; "
                  "while :; do sleep 0.01; done",
                  note));
  wait_until([&] { return out_ == "up\n"; });
  exec_.reset();
  while (!std::filesystem::exists(note)) {
  }
  EXPECT_FALSE(end_);
}

}  // namespace exec_test
}  // namespace muster::runtime
