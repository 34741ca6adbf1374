// R3: every single I/O call fails once, in turn. The right error comes back, nothing acknowledged
// is lost, no list is done in part, and the store recovers where it may and stops writing where it
// must.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing/crash_model.h"
#include "store/testing/quiet.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace io_fault_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class IoFaultTest : public ::testing::Test {
 protected:
  IoFaultTest() {
    options.commit_inline = true;
    options.max_group = CrashModel::kMaxGroup;
    options.history_events = 5;
    options.history_age = Duration::zero();
  }

  Result<std::unique_ptr<Store>> open(const FaultyDisk& disk, const std::string& path) {
    // Small limits: within a dozen groups there are checkpoints of both kinds, and the log starts
    // again.
    MUSTER_TRY(auto durability, open_sqlite(path, {.vfs = disk.vfs(),
                                                   .checkpoint_bytes = 40'000,
                                                   .max_log_bytes = 100'000,
                                                   .reserved_log_bytes = 80'000,
                                                   .checkpoint_thread = false}));
    return open_store(std::move(durability), test_resources(), clock, metrics, options);
  }

  TempDirectory dir;
  Options options;
  ManualClock clock{Time{}};
  Metrics metrics;
};

// One run in which the nth call fails.
class FaultRun : public IoFaultTest, public ::testing::WithParamInterface<Fault> {
 protected:
  // What failed, or nothing if the run has fewer calls.
  std::optional<std::string> run(std::uint64_t nth) {
    FaultyDisk disk;
    CrashModel model;
    Rng rng(1);
    const std::string path = dir / std::to_string(nth);
    disk.fail_call(nth, GetParam());

    auto store = open(disk, path);
    if (!store) {
      EXPECT_TRUE(disk.failed_call()) << store.error().message;
      store = open(disk, path);  // it was but once
    }
    if (!store)
      ADD_FAILURE() << "does not open after the fault has gone: " << store.error().message;
    if (!store) return disk.failed_call();
    const bool failed_while_opening = disk.failed_call().has_value();
    use(**store, model, rng, disk, failed_while_opening);
    const auto failed = disk.failed_call();
    store->reset();  // closing fails in silence; the next start makes up for it

    store = open(disk, path);
    if (!store && disk.failed_call() != failed) store = open(disk, path);
    EXPECT_TRUE(store) << store.error().message;
    if (store) {
      EXPECT_TRUE(model.agrees_with(**store));
      store->reset();
    }
    if (!disk.failed_call()) return std::nullopt;
    const auto faults = check_sqlite(path, {.vfs = disk.vfs()});
    EXPECT_THAT(faults.value_or(std::vector<std::string>{"cannot be checked"}), IsEmpty());
    std::filesystem::remove_all(path);
    return disk.failed_call();
  }

  void use(Store& store, CrashModel& model, Rng& rng, const FaultyDisk& disk, bool failed_before) {
    bool stopped = false;
    for (int group = 0; group < 14; ++group) {
      clock.advance(std::chrono::milliseconds(1));
      const bool had_failed = failed_before || disk.failed_call().has_value();
      model.write_any(store, rng);
      const auto error = model.last_error();
      if (stopped) {
        EXPECT_EQ(error, Code::kUnavailable) << "once stopped, it stays so";
        EXPECT_THAT(store.trouble(), HasSubstr("no more writes until the server is restarted"));
      } else if (error) {
        EXPECT_TRUE(disk.failed_call()) << "an error without a cause";
        stopped = error == Code::kInternal;
        EXPECT_NE(store.trouble(), "");
        EXPECT_TRUE(stopped || !had_failed) << "only a checkpoint's failure may show later";
      } else {
        EXPECT_EQ(store.trouble(), "") << "it has recovered";
      }
      EXPECT_EQ(Contents::of(*store.snapshot()), model.settled())
          << "readers see what was acknowledged";
    }
    // If the last group's checkpoint has failed, the next write is the first to know.
    const bool seen = disk.failed_call().has_value();
    model.write_any(store, rng);
    stopped = stopped || (seen && model.last_error() == Code::kInternal);
    expect_stopped_if_it_must(stopped, failed_before || !seen, disk);
  }

  // After a failed sync nothing more may be written. A full disk never stops it for good.
  void expect_stopped_if_it_must(bool stopped, bool failed_before, const FaultyDisk& disk) {
    if (failed_before || !disk.failed_call()) return;
    EXPECT_TRUE(stopped || !disk.failed_call()->starts_with("sync"));
    EXPECT_FALSE(stopped && GetParam() == Fault::kDiskFull);
    EXPECT_FALSE(stopped && disk.failed_call()->starts_with("read"));
  }
};

TEST_P(FaultRun, EveryCallFailsOnce) {
  const QuietLog quiet;
  std::map<std::string, int> sites;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(fmt::format("call {}", nth));
    const auto failed = run(nth);
    if (failed) ++sites[*failed];
    ASSERT_FALSE(HasFailure()) << "when this failed: " << failed.value_or("nothing");
    if (!failed) break;
  }
  EXPECT_GE(sites["write muster.db-wal"], 30);
  EXPECT_GE(sites["write muster.db"], 5);
  if (GetParam() == Fault::kError) {
    EXPECT_GE(sites["sync muster.db-wal"], 14);
    EXPECT_GE(sites["sync muster.db"], 2);
    EXPECT_GE(sites["read muster.db-wal"] + sites["read muster.db"], 10);
    EXPECT_GE(sites["remove muster.db-wal"], 1);
    EXPECT_GE(sites["look at muster.db-shm"], 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultRun, ::testing::Values(Fault::kError, Fault::kDiskFull),
                         [](const auto& each) {
                           return each.param == Fault::kError ? "Error" : "DiskFull";
                         });

TEST_F(IoFaultTest, AFullDiskMakesItReadOnlyUntilThereIsSpace) {
  const QuietLog quiet;
  FaultyDisk disk;
  CrashModel model;
  Rng rng(2);
  auto store = open(disk, dir.path());
  ASSERT_TRUE(store);
  disk.set_capacity(400'000);
  while (!model.last_error()) model.write_any(**store, rng);
  EXPECT_EQ(model.last_error(), Code::kUnavailable);
  for (int i = 0; i < 20; ++i) {
    model.write_any(**store, rng);
    ASSERT_EQ(model.last_error(), Code::kUnavailable);
    ASSERT_EQ(Contents::of(*(*store)->snapshot()), model.settled());
  }
  EXPECT_THAT((*store)->trouble(), HasSubstr("full"));

  disk.set_capacity(std::nullopt);
  for (int i = 0; i < 20; ++i) {
    model.write_any(**store, rng);
    ASSERT_FALSE(model.last_error());
  }
  EXPECT_EQ((*store)->trouble(), "");
  store->reset();
  store = open(disk, dir.path());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE(model.agrees_with(**store));
}

// A full disk and then a power cut: what the refused attempts left in the log confuses nobody.
TEST_F(IoFaultTest, PowerCutsOnAFullDiskLoseNothing) {
  const QuietLog quiet;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const std::string path = dir / std::to_string(seed);
    FaultyDisk disk;
    CrashModel model;
    Rng rng(seed);
    auto store = open(disk, path);
    ASSERT_TRUE(store);
    disk.set_capacity(200'000 + rng.below(100'000));
    disk.cut_power_at_change(100 + rng.below(200));
    for (int i = 0; i < 100 && disk.has_power(); ++i) {
      if (rng.chance(0.1)) disk.set_capacity(200'000 + rng.below(400'000));
      model.write_any(**store, rng);
    }
    store->reset();
    disk.set_capacity(std::nullopt);
    disk.restart(rng);
    store = open(disk, path);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(model.agrees_with(**store));
  }
}

}  // namespace io_fault_test
}  // namespace muster::store
