// A directory, a loop and a process runtime on it, for tests with real processes. The test binary
// is its own keeper (keeper_main_test.cc).
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/loop.h"
#include "base/rng.h"
#include "base/unique_fd.h"
#include "runtime/journal.h"
#include "runtime/runtime.h"

namespace muster::runtime {

inline std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Processes whose command line contains the text, this one excepted.
inline std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == getpid()) continue;
    if (read_text(entry.path() / "cmdline").find(text) != std::string::npos) found.push_back(pid);
  }
  return found;
}

class RuntimeFixture : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kPatience{60};

  RuntimeFixture() {
    char name[] = "/tmp/muster-runtime-XXXXXX";
    directory_ = mkdtemp(name);
    chmod(directory_.c_str(), 0711);
  }

  ~RuntimeFixture() override {
    clean_up();
    std::filesystem::remove_all(directory_);
  }

  void connect(bool namespaces = true) {
    namespaces_ = namespaces;
    auto made = make_process_runtime(*loop_, {.directory = directory_ + "/runtime",
                                              .namespaces = namespaces,
                                              .adopt_patience = adopt_patience_});
    ASSERT_TRUE(made) << made.error().message;
    runtime_ = std::move(*made);
    runtime_->on_change([this](const RunState& state) {
      told_.push_back(state);
      states_[state.id] = state;
      look();
    });
  }

  // Runs the loop until the condition holds; checked after each event.
  void wait_until(std::function<bool()> condition) {
    if (condition()) return;
    condition_ = std::move(condition);
    bool late = false;
    const TimerId timer = loop_->after(kPatience, [&] {
      late = true;
      loop_->stop();
    });
    loop_->run();
    loop_->cancel(timer);
    condition_ = nullptr;
    ASSERT_FALSE(late) << "nothing happened in time";
  }

  void look() {
    if (condition_ && condition_()) loop_->stop();
  }

  // Calls `what` with a Done, and gives what the Done was given.
  Status finish(std::function<void(Runtime::Done)> what) {
    std::optional<Status> result;
    what([&](Status status) {
      result = std::move(status);
      look();
    });
    wait_until([&] { return result.has_value(); });
    return result.value_or(fail(Code::kTimeout, "no answer"));
  }

  static PodSpec pod_spec(const std::string& uid) {
    return {.uid = uid, .hostname = "host-of-" + uid};
  }

  void start_pod(const std::string& uid = "pod") {
    const Status started =
        finish([&](Runtime::Done done) { runtime_->start_pod(pod_spec(uid), std::move(done)); });
    ASSERT_TRUE(started) << started.error().message;
  }

  RunSpec shell(const std::string& script, int number = 0) {
    return {.container = "main",
            .number = number,
            .argv = {"/bin/sh", "-c", script},
            .environment = {"PATH=/usr/bin:/bin"},
            .working_directory = "/",
            .log_file = log_file(number)};
  }

  std::string log_file(int number = 0) { return fmt::format("{}/{}.log", directory_, number); }

  RunId start(const RunSpec& spec, const std::string& uid = "pod") {
    const Status started =
        finish([&](Runtime::Done done) { runtime_->start(uid, spec, std::move(done)); });
    EXPECT_TRUE(started) << started.error().message;
    return {uid, spec.container, spec.number};
  }

  bool is(const RunId& run, RunPhase phase) {
    const auto state = states_.find(run);
    return state != states_.end() && state->second.phase == phase;
  }
  void wait_for(const RunId& run, RunPhase phase) {
    wait_until([&] { return is(run, phase); });
  }
  Exit exit_of(const RunId& run) {
    wait_for(run, RunPhase::kExited);
    return states_[run].exit.value_or(Exit{.code = -1});
  }
  Exit run_shell(const std::string& script) { return exit_of(start(shell(script))); }

  // What the log says, without the times.
  std::vector<std::string> log_lines(int number = 0) {
    std::istringstream file(read_text(log_file(number)));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line.substr(31));
    return lines;
  }

  std::vector<Runtime::Adopted> adopt() {
    std::optional<std::vector<Runtime::Adopted>> result;
    runtime_->adopt([&](std::vector<Runtime::Adopted> pods) {
      // Now, not after the wait: a change may be told in between, and it is newer.
      for (const Runtime::Adopted& pod : pods) {
        for (const RunState& state : pod.runs) states_[state.id] = state;
      }
      result = std::move(pods);
      look();
    });
    wait_until([&] { return result.has_value(); });
    return *result;
  }

  // A text that no other process has in its command line.
  std::string unique_seconds() {
    Rng rng = Rng::from_system();
    return fmt::format("{}.{}", 100000 + rng.below(900000), rng.below(1000000000));
  }

  // Kills what is left, and waits until the keeper has ended: it does when nothing is there.
  void clean_up() {
    if (runtime_ == nullptr) connect(namespaces_);
    if (runtime_ == nullptr) return;
    for (const Runtime::Adopted& pod : adopt()) {
      for (const RunState& run : pod.runs) {
        if (run.phase == RunPhase::kExited) continue;
        runtime_->kill(run.id);
        wait_for(run.id, RunPhase::kExited);
      }
      const Status removed =
          finish([&](Runtime::Done done) { runtime_->remove_pod(pod.pod.uid, std::move(done)); });
      EXPECT_TRUE(removed) << removed.error().message;
    }
    runtime_.reset();
    const UniqueFd lock(open((directory_ + "/runtime/keeper.lock").c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(flock(lock.get(), LOCK_EX), 0);
    EXPECT_TRUE(journals_in(directory_ + "/runtime/pods").empty());
    EXPECT_EQ(read_text(directory_ + "/runtime/keeper.log"), "");
  }

  std::string directory_;
  bool namespaces_ = true;
  Duration adopt_patience_ = std::chrono::seconds(30);
  std::unique_ptr<Loop> loop_ = make_real_loop();
  std::unique_ptr<Runtime> runtime_;
  std::vector<RunState> told_;
  std::map<RunId, RunState> states_;
  std::function<bool()> condition_;
};

}  // namespace muster::runtime
