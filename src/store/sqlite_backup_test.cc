// Backup while running, and restore: the revision jumps forward so that no client's cache hides a
// change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "store/data_directory.h"
#include "store/sqlite_backup.h"
#include "store/testing/store_fixture.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace sqlite_backup_test {

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

// A kill may come at any moment before the restored database gets its name.
TEST_F(BackupTest, AnUnfinishedRestoreIsNotTakenForAnEmptyStore) {
  auto store = open(data);
  ASSERT_TRUE(write_and_wait(*store, put_of(pod("a"), "1")));
  ASSERT_TRUE(store->backup(backup));
  ASSERT_TRUE(DataDirectory::lock(restored));  // makes it
  for (const char* left : {"/muster.db.part", "/muster.db.part-journal"}) {
    FILE* file = fopen((restored + left).c_str(), "w");
    ASSERT_NE(file, nullptr);
    fputs("half", file);
    fclose(file);
  }
  const auto opened = open_sqlite(restored, {});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("a restore was cut short"));
  EXPECT_FALSE(std::filesystem::exists(restored + "/muster.db"));
  ASSERT_TRUE(restore_sqlite(backup, restored));
  EXPECT_THAT(paths(*open(restored)->snapshot(), kPods), ElementsAre("default/a"));
  EXPECT_FALSE(std::filesystem::exists(restored + "/muster.db.part"));
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

// The way out when a start is refused because of its log.
TEST_F(BackupTest, OfADamagedLogWhatCanBeReadIsSavedAndTheLossIsSaid) {
  auto store = open(data);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(write_and_wait(*store, put_of(pod(std::to_string(10 + i)), "x")));
  // As a kill leaves it.
  const std::string killed = dir / "killed";
  std::filesystem::copy(data, killed);
  std::filesystem::permissions(killed, std::filesystem::perms::owner_all);
  store.reset();
  EXPECT_EQ(*find_lost_changes(killed), "");
  FILE* log = fopen((killed + "/muster.db-wal").c_str(), "r+");
  ASSERT_NE(log, nullptr);
  const std::string zeros(4'096, '\0');
  ASSERT_EQ(fseek(log, 20 * 4'096, SEEK_SET), 0);
  fwrite(zeros.data(), 1, zeros.size(), log);
  fclose(log);
  EXPECT_FALSE(open_sqlite(killed));
  EXPECT_THAT(*find_lost_changes(killed), HasSubstr("muster.db-wal: frame "));
  const Status saved = backup_database(database_file(killed), "", backup);
  ASSERT_TRUE(saved) << saved.error().message;
  ASSERT_TRUE(restore_sqlite(backup, restored));
  const auto left = paths(*open(restored)->snapshot(), kPods);
  EXPECT_GE(left.size(), 5u);
  EXPECT_LT(left.size(), 20u);
  EXPECT_EQ(left.front(), "default/10");
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

}  // namespace sqlite_backup_test
}  // namespace muster::store
