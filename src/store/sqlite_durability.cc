// Durability by SQLite: a group is one transaction of plain inserts, synced to the write-ahead log.
#include <optional>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "store/acknowledged.h"
#include "store/checkpointer.h"
#include "store/data_directory.h"
#include "store/durability.h"
#include "store/log_reserve.h"
#include "store/sqlite_backup.h"
#include "store/sqlite_format.h"
#include "store/survivors.h"
#include "store/wal_inspection.h"

namespace muster::store {
namespace {

using sqlite::Database;
using sqlite::Statement;

// The longest that a commit waits for a checkpoint that holds it back.
constexpr int kCommitPatienceMs = 10'000;

constexpr const char* kSettings = R"(
PRAGMA page_size = 4096;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA cache_size = -2000;
PRAGMA cache_spill = OFF;
PRAGMA cell_size_check = ON;
PRAGMA trusted_schema = OFF;
)";

class SqliteDurability final : public Durability {
 public:
  SqliteDurability(DataDirectory directory, Database database, SqliteOptions options)
      : directory_(std::move(directory)),
        acknowledged_(directory_.path()),
        options_(std::move(options)),
        database_(std::move(database)) {}

  ~SqliteDurability() override {
    // Otherwise a sync has failed, and what the log holds must be read again from disk by the next
    // start; or the data was refused, and is left as it was found.
    const bool trusted = broken_.empty() && checkpointer_ && checkpointer_->fault().empty();
    database_.keep_log_on_close(!trusted);
    checkpointer_.reset();
  }

  Status prepare() {
    MUSTER_TRY(page_bytes_, database_.integer("PRAGMA page_size"));
    MUSTER_TRY(Statement insert,
               database_.prepare("INSERT INTO revisions VALUES(?, ?, ?, ?, ?, ?, ?)"));
    insert_.emplace(std::move(insert));
    MUSTER_CHECK(reserve_log(database_, options_.reserved_log_bytes));
    MUSTER_TRY(checkpointer_, Checkpointer::start(directory_.database_file(), options_));
    sqlite3_wal_hook(database_.handle(), &SqliteDurability::on_commit, this);
    return {};
  }

  Result<Loaded> load(const std::function<void(const Record&)>& each) override {
    std::string first_fault;
    auto audit = audit_rows(database_, each, [&](std::string fault) {
      first_fault = std::move(fault);
      return false;
    });
    if (!audit) first_fault = audit.error().message;
    if (!first_fault.empty()) {
      broken_ = first_fault;
      return fail(Code::kInternal, fmt::format("{}: {}; `muster check` lists all that is wrong, "
                                               "`muster restore` puts a backup in place",
                                               directory_.database_file(), first_fault));
    }
    dense_from_ = audit->layout.dense_from;
    return Loaded{.newest = audit->newest,
                  .base = audit->layout.base,
                  .floors = std::move(audit->layout.floors)};
  }

  Status append(std::span<const Record> group) override {
    MUSTER_CHECK(transaction([&] { return insert_all(group); }));
    if (!group.empty()) acknowledged_.write(group.back().revision);
    return {};
  }

  Status forget(std::span<const Revision> revisions, std::span<const Floor> floors) override {
    Revision dense_after = dense_from_;
    const Status done = transaction([&] { return drop_all(revisions, floors, dense_after); });
    if (done) dense_from_ = dense_after;
    return done;
  }

  Status backup(const std::string& file) override {
    return backup_database(directory_.database_file(), options_.vfs, file);
  }

  std::uint64_t log_bytes() const override { return log_bytes_.load(std::memory_order_relaxed); }

 private:
  Status insert_all(std::span<const Record> group) {
    for (const Record& r : group) {
      insert_->bind(1, static_cast<std::int64_t>(r.revision))
          .bind(2, r.resource)
          .bind(3, r.ns)
          .bind(4, r.name);
      insert_->bind(5, r.text)
          .bind(6, std::int64_t{r.deleted})
          .bind(7, std::int64_t{checksum_of(r)});
      MUSTER_CHECK(insert_->run());
    }
    return {};
  }

  Status drop_all(std::span<const Revision> revisions, std::span<const Floor> floors,
                  Revision& dense_after) {
    MUSTER_TRY(Statement drop, database_.prepare("DELETE FROM revisions WHERE revision = ?"));
    for (const Revision revision : revisions)
      MUSTER_CHECK(drop.bind(1, static_cast<std::int64_t>(revision)).run());
    MUSTER_TRY(dense_after, Survivors::forget(database_, revisions, dense_from_));
    for (const Floor& floor : floors) MUSTER_CHECK(write_floor(database_, floor));
    return write_meta(database_, "dense_from", static_cast<std::int64_t>(dense_after));
  }

  // Nothing reaches the disk before COMMIT (cache_spill is off), so until then any failure may be
  // repeated. In COMMIT only a full disk may: SQLite has not written the frame that ends the
  // transaction. Any other error leaves open whether that frame, or a sync behind it, has happened.
  template <class Work>
  Status transaction(Work&& work) {
    if (broken_.empty()) broken_ = checkpointer_->fault();
    if (!broken_.empty()) return fail(Code::kInternal, broken_);
    if (Status begun = database_.exec("BEGIN IMMEDIATE"); !begun)
      return failed(std::move(begun).error());
    if (Status worked = work(); !worked) return failed(std::move(worked).error());
    if (Status committed = database_.exec("COMMIT"); !committed) {
      const int code = database_.primary_code();
      Error error = std::move(committed).error();
      error.code =
          code == SQLITE_FULL || code == SQLITE_BUSY ? Code::kUnavailable : Code::kInternal;
      return failed(std::move(error));
    }
    checkpointer_->log_is(log_bytes());
    return {};
  }

  Status failed(Error error) {
    if (!database_.rollback()) error.code = Code::kInternal;
    if (error.code != Code::kUnavailable) broken_ = error.message;
    return std::unexpected(std::move(error));
  }

  static int on_commit(void* self, sqlite3*, const char*, int frames) {
    auto* durability = static_cast<SqliteDurability*>(self);
    constexpr std::uint64_t kFrameHeader = 24;
    durability->log_bytes_ = static_cast<std::uint64_t>(frames) *
                             (static_cast<std::uint64_t>(durability->page_bytes_) + kFrameHeader);
    return SQLITE_OK;
  }

  DataDirectory directory_;
  AcknowledgedNote acknowledged_;
  const SqliteOptions options_;
  Database database_;
  std::int64_t page_bytes_ = 0;
  std::optional<Statement> insert_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::atomic<std::uint64_t> log_bytes_ = 0;
  Revision dense_from_ = 0;
  std::string broken_;
};

constexpr const char* kWayOut =
    "; `muster backup` saves what can be read, `muster restore` makes a new directory of that or "
    "of "
    "an earlier backup";

Result<bool> has_tables(Database& database) {
  MUSTER_TRY(const std::int64_t tables, database.integer("SELECT count(*) FROM sqlite_schema"));
  return tables != 0;
}

// Before anything is written: the remains of what was lost stay where they are.
Status refuse_loss(const DataDirectory& directory, Database& database, std::uint64_t log_end) {
  MUSTER_TRY(const bool tables, has_tables(database));
  if (!tables) return {};  // ensure_tables() has words for that
  MUSTER_TRY(const Revision newest, read_newest(database));
  const std::string loss = describe_loss(newest, AcknowledgedNote::read(directory.path()), log_end);
  return loss.empty() ? Status{} : fail(Code::kInternal, loss + kWayOut);
}

// A new database gets its tables; one that was there before has them, or is lost.
Status ensure_tables(DataDirectory& directory, Database& database) {
  MUSTER_TRY(const bool tables, has_tables(database));
  if (!tables && directory.initialized()) {
    return fail(Code::kInternal, "it is empty, although there was data in it");
  }
  if (!tables) MUSTER_CHECK(database.transaction([&] { return create_tables(database); }));
  MUSTER_CHECK(read_layout(database));
  return directory.initialized() ? Status{} : directory.mark_initialized();
}

// Nothing is there yet, but somebody counts on what a backup held.
Status refuse_unfinished_restore(const std::string& file) {
  if (access(file.c_str(), F_OK) == 0 || access(partial_file(file).c_str(), F_OK) != 0) return {};
  return fail(Code::kInternal, fmt::format("a restore was cut short: run `muster restore` again, "
                                           "or remove {} to begin with nothing",
                                           partial_file(file)));
}

Result<Database> open_database(DataDirectory& directory, const std::string& vfs) {
  const std::string file = directory.database_file();
  MUSTER_CHECK(refuse_unfinished_restore(file));
  MUSTER_TRY(const LogInspection log, inspect_log(file + "-wal", vfs));
  if (!log.damage.empty()) return fail(Code::kInternal, log.damage + kWayOut);
  // SQLite gives its other files the mode of this one.
  if (vfs.empty() && access(file.c_str(), F_OK) != 0) MUSTER_CHECK(create_private_file(file));
  MUSTER_TRY(auto database, Database::open(file, Database::Mode::kCreate, vfs));
  database.keep_log_on_close();  // until it is known to be sound
  database.set_patience(kCommitPatienceMs);
  MUSTER_CHECK(database.exec(kSettings));
  MUSTER_TRY(const std::string mode, database.text("PRAGMA journal_mode = WAL"));
  if (mode != "wal") return fail(Code::kInternal, "this file system cannot keep a write-ahead log");
  MUSTER_CHECK(refuse_loss(directory, database, log.sound_end));
  MUSTER_CHECK(erase_log(database, log.sound_end, log.torn_end));
  MUSTER_CHECK(ensure_tables(directory, database));
  return database;
}

}  // namespace

Result<std::unique_ptr<Durability>> open_sqlite(const std::string& dir,
                                                const SqliteOptions& options) {
  MUSTER_TRY(auto directory, DataDirectory::lock(dir));
  auto database = open_database(directory, options.vfs);
  if (!database) {
    return fail(database.error().code,
                fmt::format("{}: {}", directory.database_file(), database.error().message));
  }
  auto durability =
      std::make_unique<SqliteDurability>(std::move(directory), *std::move(database), options);
  MUSTER_CHECK(durability->prepare());
  return durability;
}

}  // namespace muster::store
