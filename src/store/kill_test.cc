// R1: a writing process is killed with SIGKILL at random moments. Whatever it had acknowledged is
// there, and no list of writes is there in part.
//
// MUSTER_KILLS says how often (20 unless told otherwise; 10,000 by night).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <thread>

#include "base/rng.h"
#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace kill_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests

constexpr int kWriters = 64;

// What a writer tells its parent once a write is acknowledged; small enough for pipes to keep it
// whole.
struct Acknowledged {
  int writer;
  std::uint64_t number;
  Revision revision;
};

void tell(int acknowledgements, const Acknowledged& note) {
  if (write(acknowledgements, &note, sizeof(note)) != sizeof(note)) _exit(3);
}

Result<std::unique_ptr<Store>> open_at(const std::string& dir, Metrics& metrics) {
  MUSTER_TRY(
      auto disk,
      open_sqlite(dir, {.vfs = "", .checkpoint_bytes = 200'000, .max_log_bytes = 1'000'000}));
  return open_store(std::move(disk), test_resources(), real_clock(), metrics,
                    {.history_events = 100});
}

int kills() {
  const char* variable = std::getenv("MUSTER_KILLS");
  return variable == nullptr ? 20 : std::atoi(variable);
}

// A process that calls `body` with the end of a pipe, and is killed after so many acknowledgements.
// Notes the last revision that each writer has told of.
template <class Body>
void run_and_kill(Body body, std::uint64_t wanted, std::map<int, Revision>& acknowledged) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) body(pipe_ends[1]);
  close(pipe_ends[1]);
  // The moment is a number of acknowledgements, the rest is up to the scheduler.
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
}

void expect_sound(const std::string& dir) {
  const auto faults = check_sqlite(dir);
  ASSERT_TRUE(faults) << faults.error().message;
  EXPECT_EQ(*faults, std::vector<std::string>());
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
        tell(acknowledgements, {writer, number, revision});
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  _exit(4);
}

TEST(Kill, WhatWasAcknowledgedSurvives) {
  const TempDirectory dir;
  Rng rng(1);
  std::map<int, Revision> acknowledged;
  for (int kill_number = 0; kill_number < kills(); ++kill_number) {
    ASSERT_NO_FATAL_FAILURE(run_and_kill([&](int pipe) { write_for_ever(dir.path(), pipe); },
                                         rng.below(400), acknowledged));
    Metrics metrics;
    auto store = open_at(dir.path(), metrics);
    ASSERT_TRUE(store) << store.error().message;
    for (const auto& [writer, revision] : acknowledged) {
      const ObjectPtr found = (*store)->snapshot()->get(pod(std::to_string(writer)));
      ASSERT_NE(found, nullptr);
      ASSERT_GE(found->revision(), revision) << "writer " << writer << ", kill " << kill_number;
    }
  }
  expect_sound(dir.path());
}

// --- Lists ---

// Each writer rewrites all members of its gang with every list. The largest is a gang of 4,096,
// which takes a transaction of several hundred pages.
constexpr int kGangSizes[] = {2, 60, 60, 4'096};
constexpr int kGangs = std::size(kGangSizes);

Key member_of(int gang, int member) {
  const std::string name = fmt::format("gang-{}-{}", gang, member);
  return member % 2 == 0 ? pod(name) : job(name);
}

// The next list: mostly new texts, at times all members are deleted and created again.
std::vector<Write> next_list(const Snapshot& now, int gang, std::uint64_t number) {
  std::vector<Write> list;
  const bool replace = number % 4 == 3;
  for (int member = 0; member < kGangSizes[gang]; ++member) {
    const ObjectPtr known = now.get(member_of(gang, member));
    if (replace && known != nullptr)
      list.push_back(remove_of(member_of(gang, member), known->revision()));
  }
  for (int member = 0; member < kGangSizes[gang]; ++member) {
    const ObjectPtr known = now.get(member_of(gang, member));
    list.push_back(put_of(member_of(gang, member), std::to_string(number),
                          replace || known == nullptr ? 0 : known->revision()));
  }
  return list;
}

// The revision of the gang's last member; 0 if no member is there. Nothing if the members are not
// of one list.
std::optional<Revision> whole_gang(const Snapshot& snapshot, int gang) {
  const ObjectPtr first = snapshot.get(member_of(gang, 0));
  Revision last = 0;
  for (int member = 0; member < kGangSizes[gang]; ++member) {
    const ObjectPtr each = snapshot.get(member_of(gang, member));
    if ((each == nullptr) != (first == nullptr)) return std::nullopt;
    if (each == nullptr) continue;
    if (each->revision() != first->revision() + static_cast<Revision>(member)) return std::nullopt;
    last = each->revision();
  }
  return last;
}

[[noreturn]] void write_lists_for_ever(const std::string& dir, int acknowledgements) {
  Metrics metrics;
  auto store = open_at(dir, metrics);
  if (!store) _exit(1);
  std::vector<std::thread> threads;
  for (int gang = 0; gang < kGangs; ++gang) {
    threads.emplace_back([&, gang] {
      for (std::uint64_t number = 1;; ++number) {
        const auto written =
            write_list_and_wait(**store, next_list(*(*store)->snapshot(), gang, number));
        if (!written) _exit(2);
        tell(acknowledgements, {gang, number, written->back()->revision()});
      }
    });
  }
  // Single writes share the groups of the small lists.
  threads.emplace_back([&] {
    const ObjectPtr known = (*store)->snapshot()->get(node("n"));
    Revision revision = known == nullptr ? 0 : known->revision();
    while (true) {
      const auto written = write_and_wait(**store, put_of(node("n"), "", revision));
      if (!written) _exit(2);
      revision = (*written)->revision();
    }
  });
  // What others see meanwhile is whole, too. The reader looks at one gang each time that it is
  // woken, so that it leaves the processors to the writers.
  std::atomic<bool> news = true;
  const auto subscription = (*store)->watch(kPods, (*store)->snapshot()->revision(), [&] {
    news = true;
    news.notify_one();
  });
  if (!subscription) _exit(6);
  threads.emplace_back([&] {
    for (int gang = 0;; gang = (gang + 1) % kGangs) {
      news.wait(false);
      news = false;
      (void)(*subscription)->poll(1);  // asks to be woken again
      if (!whole_gang(*(*store)->snapshot(), gang)) _exit(5);
    }
  });
  for (std::thread& thread : threads) thread.join();
  _exit(4);
}

TEST(Kill, NoListSurvivesInPart) {
  const TempDirectory dir;
  Rng rng(1);
  std::map<int, Revision> acknowledged;
  for (int kill_number = 0; kill_number < kills(); ++kill_number) {
    ASSERT_NO_FATAL_FAILURE(run_and_kill([&](int pipe) { write_lists_for_ever(dir.path(), pipe); },
                                         rng.below(30), acknowledged));
    Metrics metrics;
    auto store = open_at(dir.path(), metrics);
    ASSERT_TRUE(store) << store.error().message;
    for (int gang = 0; gang < kGangs; ++gang) {
      const std::optional<Revision> found = whole_gang(*(*store)->snapshot(), gang);
      ASSERT_TRUE(found) << "gang " << gang << " is there in part, kill " << kill_number;
      ASSERT_GE(*found, acknowledged[gang]) << "gang " << gang << ", kill " << kill_number;
    }
  }
  expect_sound(dir.path());
}

}  // namespace kill_test
}  // namespace muster::store
