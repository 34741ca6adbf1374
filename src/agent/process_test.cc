#include "agent/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace muster::agent {
namespace {

using testing::HasSubstr;

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "process-test-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~ProcessTest() override { std::filesystem::remove_all(directory_); }

  ProcessSpec shell(std::string script) {
    return {.argv = {"sh", "-c", std::move(script)},
            .environment = {"PATH=/usr/bin:/bin", "GREETING=hello"},
            .log_file = directory_ + "/log"};
  }
  Exit run(const ProcessSpec& spec, int signal = 0) {
    Exit result;
    auto process = Process::start(*loop_, spec, [&](Exit exit) {
      result = exit;
      loop_->stop();
    });
    EXPECT_TRUE(process);
    if (signal != 0) (*process)->signal(signal);
    loop_->run();
    return result;
  }
  std::string log() const {
    std::ifstream file(directory_ + "/log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string directory_;
  std::unique_ptr<Loop> loop_ = make_real_loop();
};

TEST_F(ProcessTest, WritesBothStreamsToItsLogAndTellsItsCode) {
  EXPECT_EQ(run(shell("echo $GREETING; echo oops >&2; exit 7")).code, 7);
  EXPECT_EQ(log(), "hello\noops\n");
}

TEST_F(ProcessTest, ASignalIsTheExitCodeAbove128) {
  const Exit exit = run(shell("sleep 60"), SIGTERM);
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
}

TEST_F(ProcessTest, AProgramThatIsNotThereIsAnErrorByName) {
  const auto process = Process::start(*loop_,
                                      {.argv = {"no-such-program"},
                                       .environment = {"PATH=/usr/bin"},
                                       .log_file = directory_ + "/log"},
                                      {});
  ASSERT_FALSE(process);
  EXPECT_THAT(process.error().message, HasSubstr("no-such-program"));
  EXPECT_THAT(process.error().message, HasSubstr("No such file"));
}

TEST_F(ProcessTest, DestroyingItEndsTheWholeGroup) {
  int pid = 0;
  {
    auto process = Process::start(*loop_, shell("sleep 60 & sleep 60"), [](Exit) {});
    ASSERT_TRUE(process);
    pid = (*process)->pid();
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace muster::agent
