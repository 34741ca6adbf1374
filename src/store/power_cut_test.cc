// R2: the power fails at any moment, while opening, writing, forgetting or checkpointing. Whatever
// was acknowledged is there afterwards, no group and no list is half done, and the store always
// opens again.
//
// Each schedule is a seed. MUSTER_POWER_CUTS says how many are run (2,000 unless told otherwise,
// the nightly run has 200,000); MUSTER_POWER_CUT_SEED runs a single one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "store/testing/crash_model.h"
#include "store/testing/quiet.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace power_cut_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::IsEmpty;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// One disk's life: a few times it is used until the power fails.
class Schedule {
 public:
  Schedule(std::uint64_t seed, const std::string& dir) : rng_(seed), dir_(dir) {
    options_.commit_inline = true;
    options_.max_group = CrashModel::kMaxGroup;
    options_.history_events = rng_.below(20);
    options_.history_age = Duration::zero();
    sqlite_ = {.vfs = disk_.vfs(),
               .checkpoint_bytes = 8'216 * (1 + rng_.below(30)),
               .max_log_bytes = 8'216 * (1 + rng_.below(60)),
               .reserved_log_bytes = 8'216 * rng_.below(40),
               .checkpoint_thread = false};
  }

  void run() {
    const std::uint64_t lives = 1 + rng_.below(3);
    for (std::uint64_t life = 0; life < lives; ++life) {
      disk_.cut_power_at_change(1 + rng_.below(rng_.chance(0.3) ? 30 : 250));
      use_until_the_power_fails();
      if (::testing::Test::HasFatalFailure()) return;
      disk_.restart(rng_);
      // The note of what was acknowledged is never synced.
      if (rng_.chance(0.5)) std::filesystem::remove(dir_ + "/acknowledged");
    }
    store_ = open();
    ASSERT_NE(store_, nullptr);
    ASSERT_TRUE(model_.agrees_with(*store_));
    for (int i = 0; i < 3; ++i) model_.write_any(*store_, rng_);
    ASSERT_FALSE(model_.last_error());
    check_events();
    store_.reset();
    const auto faults = check_sqlite(dir_, {.vfs = disk_.vfs()});
    ASSERT_TRUE(faults) << faults.error().message;
    ASSERT_THAT(*faults, IsEmpty());
  }

 private:
  void use_until_the_power_fails() {
    store_ = open();
    if (store_ != nullptr) {
      ASSERT_TRUE(model_.agrees_with(*store_));
      for (int i = 0; i < 60 && disk_.has_power(); ++i) {
        clock_.advance(std::chrono::milliseconds(1));
        model_.write_any(*store_, rng_);
        ASSERT_TRUE(disk_.has_power() || model_.last_error() || model_.agrees_with(*store_));
      }
      store_.reset();
    }
    ASSERT_TRUE(store_ == nullptr);
  }

  // Null if the power fails meanwhile. Any other reason is a fault.
  std::unique_ptr<Store> open() {
    auto disk = open_sqlite(dir_, sqlite_);
    if (!disk) {
      EXPECT_FALSE(disk_.has_power()) << disk.error().message;
      return nullptr;
    }
    auto store = open_store(std::move(*disk), test_resources(), clock_, metrics_, options_);
    if (!store) {
      EXPECT_FALSE(disk_.has_power()) << store.error().message;
      return nullptr;
    }
    return std::move(*store);
  }

  // The history that is left leads from the state at its beginning to the present one.
  void check_events() {
    for (const int resource : {kPods, kJobs}) {
      const Revision oldest = store_->oldest(resource);
      std::map<std::string, std::string> state;
      const auto then = store_->snapshot_at(resource, oldest);
      ASSERT_TRUE(then) << then.error().message;
      (*then)->scan(resource, {},
                    [&](const ObjectPtr& o) { return state[o->path()] = o->bytes(), true; });
      auto events = (*store_->watch(resource, oldest, [] {}))->poll(100'000);
      ASSERT_TRUE(events);
      for (const Event& event : *events) {
        if (event.type == Event::Type::kDeleted) {
          ASSERT_EQ(state.erase(event.object->path()), 1u);
        } else {
          state[event.object->path()] = event.object->bytes();
        }
      }
      std::map<std::string, std::string> now;
      store_->snapshot()->scan(
          resource, {}, [&](const ObjectPtr& o) { return now[o->path()] = o->bytes(), true; });
      ASSERT_EQ(state, now);
    }
  }

  Rng rng_;
  const std::string dir_;
  FaultyDisk disk_;
  SqliteOptions sqlite_;
  Options options_;
  ManualClock clock_{Time{}};
  Metrics metrics_;
  CrashModel model_;
  std::unique_ptr<Store> store_;
};

TEST(PowerCut, LosesNothingThatWasAcknowledged) {
  const QuietLog quiet;
  const TempDirectory dir;
  const std::uint64_t only = number_from("MUSTER_POWER_CUT_SEED", 0);
  const std::uint64_t count = number_from("MUSTER_POWER_CUTS", 2'000);
  for (std::uint64_t seed = only == 0 ? 1 : only; seed <= (only == 0 ? count : only); ++seed) {
    SCOPED_TRACE(fmt::format("run this one again with MUSTER_POWER_CUT_SEED={}", seed));
    const std::string each = dir / std::to_string(seed);
    Schedule(seed, each).run();
    if (HasFailure()) return;
    std::filesystem::remove_all(each);
  }
}

}  // namespace power_cut_test
}  // namespace muster::store
