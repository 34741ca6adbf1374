// R1: a writing process is killed with SIGKILL at random moments. Whatever it had acknowledged is
// there.
//
// MUSTER_KILLS says how often (20 unless told otherwise; 10,000 by night).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "base/rng.h"
#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace {

using namespace muster::store::testing;  // NOLINT: verbs of the tests

constexpr int kWriters = 64;

// What a writer tells its parent once a write is acknowledged; small enough for pipes to keep it
// whole.
struct Acknowledged {
  int writer;
  std::uint64_t number;
  Revision revision;
};

Result<std::unique_ptr<Store>> open_at(const std::string& dir, Metrics& metrics) {
  MUSTER_TRY(
      auto disk,
      open_sqlite(dir, {.vfs = "", .checkpoint_bytes = 200'000, .max_log_bytes = 1'000'000}));
  return open_store(std::move(disk), test_resources(), real_clock(), metrics,
                    {.history_events = 100});
}

// Never returns: each writer counts up in its own object, for ever.
[[noreturn]] void write_for_ever(const std::string& dir, int acknowledgements) {
  Metrics metrics;
  auto store = open_at(dir, metrics);
  if (!store) _exit(1);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const Key key = pod(std::to_string(writer));
      const ObjectPtr known = (*store)->snapshot()->get(key);
      Revision revision = known == nullptr ? 0 : known->revision();
      for (std::uint64_t number = 1;; ++number) {
        const auto written = write_and_wait(**store, put_of(key, std::string(500, 'x'), revision));
        if (!written) _exit(2);
        revision = (*written)->revision();
        const Acknowledged note{writer, number, revision};
        if (write(acknowledgements, &note, sizeof(note)) != sizeof(note)) _exit(3);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  _exit(4);
}

TEST(Kill, WhatWasAcknowledgedSurvives) {
  const char* variable = std::getenv("MUSTER_KILLS");
  const int kills = variable == nullptr ? 20 : std::atoi(variable);
  const TempDirectory dir;
  Rng rng(1);
  std::map<int, Revision> acknowledged;
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    int pipe_ends[2];
    ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(dir.path(), pipe_ends[1]);
    close(pipe_ends[1]);
    // The moment is a number of acknowledgements, the rest is up to the scheduler.
    std::uint64_t wanted = rng.below(400);
    Acknowledged note{};
    bool killed = false;
    while (true) {
      if (wanted == 0 && !killed) {
        kill(child, SIGKILL);
        killed = true;
      }
      if (read(pipe_ends[0], &note, sizeof(note)) != sizeof(note)) break;
      acknowledged[note.writer] = note.revision;
      if (wanted > 0) --wanted;
    }
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);

    Metrics metrics;
    auto store = open_at(dir.path(), metrics);
    ASSERT_TRUE(store) << store.error().message;
    for (const auto& [writer, revision] : acknowledged) {
      const ObjectPtr found = (*store)->snapshot()->get(pod(std::to_string(writer)));
      ASSERT_NE(found, nullptr);
      ASSERT_GE(found->revision(), revision) << "writer " << writer << ", kill " << kill_number;
    }
  }
  const auto faults = check_sqlite(dir.path());
  ASSERT_TRUE(faults) << faults.error().message;
  EXPECT_EQ(*faults, std::vector<std::string>());
}

}  // namespace
}  // namespace muster::store
