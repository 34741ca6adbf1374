// Backup while running, and restore: the revision jumps forward so that no client's cache hides a
// change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BackupTest : public ::testing::Test {
 protected:
  BackupTest() { options.commit_inline = true; }

  std::unique_ptr<Store> open(const std::string& path) {
    auto disk = open_sqlite(path, {});
    EXPECT_TRUE(disk) << disk.error().message;
    auto store = open_store(std::move(*disk), test_resources(), clock, metrics, options);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }

  TempDirectory dir;
  const std::string data = dir / "data";
  const std::string backup = dir / "backup.db";
  const std::string restored = dir / "restored";
  Options options;
  ManualClock clock{Time{}};
  Metrics metrics;
};

TEST_F(BackupTest, ABackupHoldsTheStateOfItsMoment) {
  auto store = open(data);
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("a"), "1")));
  const Status done = store->backup(backup);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("b"), "after")));
  ASSERT_TRUE(restore_sqlite(backup, restored));
  auto again = open(restored);
  EXPECT_THAT(paths(*again->snapshot(), kPods), ElementsAre("default/a"));
  EXPECT_EQ(again->snapshot()->get(pod("a"))->bytes(), text_of(2, "1"));
  EXPECT_THAT(*check_sqlite(restored), IsEmpty());
}

// kubernetes#107457: after a restore the revision must not go back.
TEST_F(BackupTest, ARestoredStoreCountsOnBehindEverythingThatMayHaveBeenSeen) {
  auto store = open(data);
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("a"), "1")));
  ASSERT_TRUE(store->backup(backup));
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(write_and_wait(*store, put_of(pod(std::to_string(i)), "lost")));
  const Revision seen = store->snapshot()->revision();
  store.reset();

  ASSERT_TRUE(restore_sqlite(backup, restored));
  store = open(restored);
  EXPECT_EQ(store->snapshot()->revision(), kRestoreStep);
  EXPECT_GT(store->snapshot()->revision(), seen);
  EXPECT_EQ(store->watch(kPods, seen, [] {}).error().code, Code::kExpired);
  EXPECT_EQ(store->watch(kPods, 2, [] {}).error().code, Code::kExpired);
  EXPECT_EQ((*write_and_wait(*store, put_of(pod("b"), "new")))->revision(), kRestoreStep + 1);
  store.reset();
  store = open(restored);
  EXPECT_EQ(store->snapshot()->revision(), kRestoreStep + 1);
  EXPECT_EQ(store->oldest(kPods), kRestoreStep);
  EXPECT_THAT(*check_sqlite(restored), IsEmpty());
}

TEST_F(BackupTest, ARestoredStoreCanBeBackedUpForgetAndBeRestoredAgain) {
  auto store = open(data);
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("a"), "1")));
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("b"), "1")));
  store->compact();
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("a"), "2", 2)));
  ASSERT_TRUE(store->backup(backup));
  ASSERT_TRUE(restore_sqlite(backup, restored));
  store = open(restored);
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("b"), "2", 3)));
  store->compact();
  ASSERT_TRUE(store->backup(backup + "2"));
  ASSERT_TRUE(restore_sqlite(backup + "2", restored + "2"));
  store = open(restored + "2");
  EXPECT_EQ(store->snapshot()->revision(), 2 * kRestoreStep);
  EXPECT_EQ(store->snapshot()->get(pod("a"))->bytes(), text_of(4, "2"));
  EXPECT_EQ(store->snapshot()->get(pod("b"))->bytes(), text_of(kRestoreStep + 1, "2"));
  EXPECT_THAT(*check_sqlite(restored + "2"), IsEmpty());
}

TEST_F(BackupTest, NothingIsOverwritten) {
  auto store = open(data);
  ASSERT_TRUE(store->backup(backup));
  EXPECT_EQ(store->backup(backup).error().code, Code::kAlreadyExists);
  store.reset();
  const Status onto_data = restore_sqlite(backup, data);
  ASSERT_FALSE(onto_data);
  EXPECT_EQ(onto_data.error().code, Code::kAlreadyExists);
}

// A server that was killed leaves its log. Somebody removes the database only, and restores.
TEST_F(BackupTest, ALogOfAnotherDatabaseIsNotPlayedIntoTheRestoredOne) {
  auto store = open(data);
  ASSERT_TRUE(store->backup(backup));
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("late"), "x")));
  std::filesystem::create_directory(restored);
  std::filesystem::permissions(restored, std::filesystem::perms::owner_all);
  std::filesystem::copy_file(data + "/muster.db-wal", restored + "/muster.db-wal");
  const Status refused = restore_sqlite(backup, restored);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kAlreadyExists);
  EXPECT_THAT(refused.error().message, HasSubstr("muster.db-wal"));
  std::filesystem::remove(restored + "/muster.db-wal");
  EXPECT_TRUE(restore_sqlite(backup, restored));
}

TEST_F(BackupTest, ADamagedBackupIsNotRestored) {
  auto store = open(data);
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("a"), "findme")));
  ASSERT_TRUE(store->backup(backup));
  std::string bytes(1'000'000, '\0');
  FILE* file = fopen(backup.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  bytes.resize(fread(bytes.data(), 1, bytes.size(), file));
  ASSERT_EQ(fseek(file, static_cast<long>(bytes.find("findme")), SEEK_SET), 0);
  fputc('F', file);
  fclose(file);
  const Status done = restore_sqlite(backup, restored);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("revision 2 (pods default/a) is damaged"));
  EXPECT_FALSE(std::filesystem::exists(restored + "/muster.db"));
}

TEST_F(BackupTest, ABackupCanBeTakenWhileOthersWrite) {
  options.commit_inline = false;
  auto store = open(data);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      ASSERT_TRUE(write_and_wait(*store, put_of(pod(std::to_string(i)), std::string(2'000, 'x'))));
    }
  });
  while (store->snapshot()->revision() < 20) std::this_thread::yield();
  const Revision before = store->snapshot()->revision();
  const Status done = store->backup(backup);
  const Revision after = store->snapshot()->revision();
  stop = true;
  writer.join();
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_TRUE(restore_sqlite(backup, restored));
  const auto count = open(restored)->snapshot()->count(kPods, "");
  EXPECT_GE(count, before - 1);
  EXPECT_LE(count, after);
}

}  // namespace
}  // namespace muster::store
