// The data directory as SQLite keeps it: what is written is read again, and who may open it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "store/sqlite_format.h"
#include "store/survivors.h"
#include "store/testing/fake_disk.h"
#include "store/testing/faulty_vfs.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace sqlite_durability_test {

using namespace muster::store::testing;  // NOLINT: verbs of the tests
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string line(const Record& r) {
  return fmt::format("{} {} {}/{} {}{}", r.revision, r.resource, r.ns, r.name, r.text,
                     r.deleted ? " deleted" : "");
}

class SqliteDurabilityTest : public ::testing::Test {
 protected:
  void open() {
    disk.reset();
    auto opened = open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0});
    ASSERT_TRUE(opened) << opened.error().message;
    disk = std::move(*opened);
    rows.clear();
    auto read = disk->load([&](const Record& r) { rows.push_back(line(r)); });
    ASSERT_TRUE(read) << read.error().message;
    loaded = *read;
  }
  void append(std::vector<Record> group) {
    const Status done = disk->append(group);
    ASSERT_TRUE(done) << done.error().message;
  }
  void append_one(Revision revision, std::string_view text) {
    append({{revision, "pods", "default", "a", text}});
  }
  void forget(std::vector<Revision> revisions, std::vector<Floor> floors = {}) {
    const Status done = disk->forget(revisions, floors);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::vector<std::string> faults() {
    auto found = check_sqlite(dir.path());
    return found ? *found : std::vector<std::string>{found.error().message};
  }
  // Changes the data behind the back of the store.
  void run_sql(const char* sql) {
    disk.reset();
    auto database =
        sqlite::Database::open(dir / "muster.db", sqlite::Database::Mode::kReadWrite, "");
    ASSERT_TRUE(database);
    const Status done = database->exec(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string why_it_does_not_open() {
    disk.reset();
    auto opened = open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0});
    if (!opened) return opened.error().message;
    auto read = (*opened)->load([](const Record&) {});
    return read ? "it does" : read.error().message;
  }

  TempDirectory dir;
  std::unique_ptr<Durability> disk;
  std::vector<std::string> rows;
  Durability::Loaded loaded;
};

TEST_F(SqliteDurabilityTest, ANewDirectoryIsEmptyAtTheFirstRevision) {
  open();
  EXPECT_THAT(rows, IsEmpty());
  EXPECT_EQ(loaded.newest, kFirstRevision);
  EXPECT_EQ(loaded.base, kFirstRevision);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(SqliteDurabilityTest, WhatWasAppendedIsReadAgainInOrder) {
  open();
  append({{2, "pods", "default", "a", "{1}"}, {3, "jobs.batch", "x", "b", ""}});
  append({{4, "nodes", "", "n", "{\"ü\":\"\\u0000\"}"}, {5, "pods", "default", "a", "{2}", true}});
  open();
  EXPECT_THAT(rows, ElementsAre("2 pods default/a {1}", "3 jobs.batch x/b ",
                                "4 nodes /n {\"ü\":\"\\u0000\"}", "5 pods default/a {2} deleted"));
  EXPECT_EQ(loaded.newest, 5u);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(SqliteDurabilityTest, ForgottenRowsAndFloorsSurviveARestart) {
  open();
  for (Revision r = 2; r <= 6; ++r) append_one(r, std::to_string(r));
  forget({2, 4}, {{"pods", 5}});
  forget({3}, {{"pods", 5}, {"jobs.batch", 4}});
  open();
  EXPECT_THAT(rows, ElementsAre("5 pods default/a 5", "6 pods default/a 6"));
  EXPECT_EQ(loaded.newest, 6u);
  ASSERT_EQ(loaded.floors.size(), 2u);
  EXPECT_EQ(loaded.floors[0].resource, "jobs.batch");
  EXPECT_EQ(loaded.floors[0].revision, 4u);
  EXPECT_EQ(loaded.floors[1].revision, 5u);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(SqliteDurabilityTest, TheRevisionNeverGoesBackEvenIfAllRowsAreForgotten) {
  open();
  append_one(2, "1");
  append({{3, "pods", "default", "a", "1", true}});
  forget({2, 3});
  open();
  EXPECT_THAT(rows, IsEmpty());
  EXPECT_EQ(loaded.newest, 3u);
  append_one(4, "2");
  open();
  EXPECT_EQ(loaded.newest, 4u);
}

TEST_F(SqliteDurabilityTest, TheLogIsCheckpointedWhileWritingGoesOn) {
  auto opened =
      open_sqlite(dir.path(), {.vfs = "", .checkpoint_bytes = 50'000, .max_log_bytes = 200'000});
  ASSERT_TRUE(opened);
  disk = std::move(*opened);
  ASSERT_TRUE(disk->load([](const Record&) {}));
  const std::string text(3'000, 'x');
  std::uint64_t longest = 0;
  for (Revision r = 2; r < 1'002; ++r) {
    append_one(r, text);
    longest = std::max(longest, disk->log_bytes());
  }
  EXPECT_GT(longest, 0u);
  EXPECT_LT(longest, 600'000u);  // many megabytes went through it
  open();
  EXPECT_EQ(loaded.newest, 1'001u);
}

// --- Who may open it ---

// What a server that was killed leaves: the log with its reserve of zeros.
TEST_F(SqliteDurabilityTest, TheReserveOfTheLogIsNoPartOfTheData) {
  constexpr std::size_t kReserved = 300'000;
  FaultyDisk files;
  const auto open_reserved = [&] {
    auto opened = open_sqlite(dir.path(), {.vfs = files.vfs(), .reserved_log_bytes = kReserved});
    EXPECT_TRUE(opened) << opened.error().message;
    disk = std::move(*opened);
    rows.clear();
    EXPECT_TRUE(disk->load([&](const Record& r) { rows.push_back(line(r)); }));
  };
  open_reserved();
  append_one(2, "1");
  append_one(3, "2");
  const std::string database = files.read_file(dir / "muster.db");
  const std::string log = files.read_file(dir / "muster.db-wal");
  EXPECT_EQ(log.size(), kReserved);
  disk.reset();
  files.write_file(dir / "muster.db", database);
  files.write_file(dir / "muster.db-wal", log);
  open_reserved();
  EXPECT_THAT(rows, ElementsAre("2 pods default/a 1", "3 pods default/a 2"));
  append_one(4, "3");
  EXPECT_EQ(files.read_file(dir / "muster.db-wal").size(), kReserved);
  disk.reset();
}

TEST_F(SqliteDurabilityTest, WithoutSpaceForTheReserveTheLogGrowsAsItIsWritten) {
  FaultyDisk files;
  files.set_capacity(200'000);
  auto opened = open_sqlite(dir.path(), {.vfs = files.vfs(), .reserved_log_bytes = 1'000'000});
  ASSERT_TRUE(opened) << opened.error().message;
  disk = std::move(*opened);
  ASSERT_TRUE(disk->load([](const Record&) {}));
  append_one(2, "1");
  EXPECT_LT(files.read_file(dir / "muster.db-wal").size(), 100'000u);
  disk.reset();
}

TEST_F(SqliteDurabilityTest, OnlyOneProcessMayHoldADirectory) {
  open();
  const auto second = open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_EQ(second.error().message,
            fmt::format("{} is in use by process {}", dir.path(), getpid()));
}

TEST_F(SqliteDurabilityTest, ADirectoryWhoseLockFileWasRemovedIsStillHeld) {
  open();
  ASSERT_EQ(unlink((dir / "lock").c_str()), 0);
  const auto second = open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_EQ(second.error().message, fmt::format("{} is in use by another process", dir.path()));
  disk.reset();
  open();
}

TEST_F(SqliteDurabilityTest, ADirectoryThatOthersCanReadIsRefused) {
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  const auto opened = open_sqlite(dir.path(), {.vfs = "", .reserved_log_bytes = 0});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kForbidden);
  EXPECT_THAT(opened.error().message, HasSubstr("mode 0755"));
  EXPECT_THAT(opened.error().message, HasSubstr("chmod 700"));
}

TEST_F(SqliteDurabilityTest, WhatItCreatesIsForItsOwnerOnly) {
  const std::string made = dir / "made";
  ASSERT_TRUE(open_sqlite(made, {}));
  struct stat info{};
  ASSERT_EQ(stat(made.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  for (const char* file : {"/muster.db", "/lock", "/initialized"}) {
    ASSERT_EQ(stat((made + file).c_str(), &info), 0) << file;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << file;
  }
}

TEST_F(SqliteDurabilityTest, ANewerFormatIsRefusedInWords) {
  open();
  disk.reset();
  {
    auto database =
        sqlite::Database::open(dir / "muster.db", sqlite::Database::Mode::kReadWrite, "");
    ASSERT_TRUE(write_meta(*database, "format", 2));
  }
  EXPECT_THAT(
      why_it_does_not_open(),
      HasSubstr("written by a newer version of muster (format 2; this one reads format 1)"));
}

TEST_F(SqliteDurabilityTest, AnEmptyDatabaseIsNotTakenForANewOne) {
  open();
  append_one(2, "1");
  disk.reset();
  ASSERT_EQ(truncate((dir / "muster.db").c_str(), 0), 0);
  EXPECT_THAT(why_it_does_not_open(), HasSubstr("it is empty, although there was data in it"));
  ASSERT_EQ(unlink((dir / "muster.db").c_str()), 0);
  EXPECT_THAT(why_it_does_not_open(), HasSubstr("it is empty, although there was data in it"));
}

TEST_F(SqliteDurabilityTest, SomethingElseIsNotTakenForADatabase) {
  open();
  disk.reset();
  FILE* file = fopen((dir / "muster.db").c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("my shopping list", file);
  fclose(file);
  EXPECT_THAT(why_it_does_not_open(), HasSubstr("file is not a database"));
}

TEST_F(SqliteDurabilityTest, CheckingWhatIsNotThereFails) {
  EXPECT_EQ(check_sqlite(dir / "nothing").error().code, Code::kNotFound);
  EXPECT_FALSE(check_sqlite(dir.path()));
}

TEST_F(SqliteDurabilityTest, ARunningServerCanBeChecked) {
  open();
  append_one(2, "1");
  EXPECT_THAT(faults(), IsEmpty());
  append_one(3, "1");
}

// --- Faults in the tables are named ---

class DamagedTables : public SqliteDurabilityTest {
 protected:
  void SetUp() override {
    open();
    for (Revision r = 2; r <= 9; ++r) append_one(r, std::to_string(r));
    forget({2, 4}, {{"pods", 5}});  // 3 survives, from 5 on all are there
  }
};

TEST_F(DamagedTables, AChangedText) {
  run_sql("UPDATE revisions SET text = '7!' WHERE revision = 7");
  EXPECT_THAT(faults(),
              ElementsAre("revision 7 (pods default/a) is damaged: its checksum does not fit"));
  EXPECT_THAT(why_it_does_not_open(), HasSubstr("revision 7 (pods default/a) is damaged"));
  EXPECT_THAT(why_it_does_not_open(), HasSubstr("muster check"));
}

TEST_F(DamagedTables, EveryOtherColumnToo) {
  run_sql(R"(UPDATE revisions SET resource = 'jobs.batch' WHERE revision = 5;
             UPDATE revisions SET ns = 'other' WHERE revision = 6;
             UPDATE revisions SET name = 'b' WHERE revision = 7;
             UPDATE revisions SET deleted = 1 WHERE revision = 8;
             UPDATE revisions SET checksum = checksum + 1 WHERE revision = 9)");
  EXPECT_EQ(faults().size(), 5u);
}

TEST_F(DamagedTables, MissingRows) {
  run_sql("DELETE FROM revisions WHERE revision IN (3, 6, 7)");
  EXPECT_THAT(faults(), ElementsAre("revision 3 is missing", "revisions 6 to 7 are missing"));
}

TEST_F(DamagedTables, ARowThatCameBack) {
  run_sql(
      "INSERT INTO revisions SELECT 4, resource, ns, name, text, deleted, checksum FROM revisions "
      "WHERE revision = 5");
  EXPECT_THAT(faults(),
              ElementsAre("revision 4 (pods default/a) is there although it was forgotten",
                          "revision 4 (pods default/a) is damaged: its checksum does not fit"));
}

TEST_F(DamagedTables, TheBookkeepingItself) {
  run_sql("UPDATE survivors SET bits = zeroblob(128)");
  EXPECT_THAT(
      faults(),
      ElementsAre("the list of remaining revisions from 0 to 1023 (survivors, block 0) is damaged",
                  "revision 3 (pods default/a) is there although it was forgotten"));
  run_sql("UPDATE meta SET value = 7 WHERE key = 'dense_from'");
  EXPECT_THAT(faults(), ElementsAre("the table meta is damaged at \"dense_from\""));
  run_sql("DELETE FROM meta WHERE key = 'dense_from'");
  EXPECT_THAT(faults(), ElementsAre("the table meta is damaged: a row is missing"));
}

// --- Forgetting, at random: what remains is what must remain ---

TEST(Survivors, AgreeWithASetWhateverIsForgotten) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    FaultyDisk memory;
    auto database = sqlite::Database::open("/s", sqlite::Database::Mode::kCreate, memory.vfs());
    ASSERT_TRUE(database);
    ASSERT_TRUE(create_tables(*database));
    std::set<Revision> model;
    Revision newest = 1, dense_from = 2;
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t i = rng.below(1'500); i > 0; --i) model.insert(++newest);
      std::vector<Revision> forgotten;
      for (const Revision revision : model) {
        if (rng.chance(0.4)) forgotten.push_back(revision);
        if (forgotten.size() == 300) break;
      }
      for (const Revision revision : forgotten) model.erase(revision);
      const auto after = Survivors::forget(*database, forgotten, dense_from);
      ASSERT_TRUE(after);
      dense_from = *after;
    }
    const auto read =
        Survivors::read(*database, [](const std::string& fault) { ADD_FAILURE() << fault; });
    ASSERT_TRUE(read);
    std::set<Revision> listed;
    for (Revision r = read->next(0); r != 0; r = read->next(r + 1)) listed.insert(r);
    std::erase_if(model, [&](Revision r) { return r >= dense_from; });
    ASSERT_EQ(listed, model) << "seed " << seed;
  }
}

}  // namespace sqlite_durability_test
}  // namespace muster::store
