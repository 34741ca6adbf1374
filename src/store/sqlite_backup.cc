#include "store/sqlite_backup.h"

#include <fmt/format.h>
#include <unistd.h>

#include "store/acknowledged.h"
#include "store/data_directory.h"
#include "store/durability.h"
#include "store/sqlite_format.h"
#include "store/survivors.h"
#include "store/wal_inspection.h"

namespace muster::store {
namespace {

using sqlite::Database;

// A file that is removed again unless it was finished.
class PartialFile {
 public:
  static Result<PartialFile> create(const std::string& final_path) {
    if (access(final_path.c_str(), F_OK) == 0) {
      return fail(Code::kAlreadyExists, fmt::format("{} is there already", final_path));
    }
    PartialFile file(final_path);
    // Left over from an attempt that was cut short. SQLite would play such a journal back into the
    // new file.
    unlink((file.path() + "-journal").c_str());
    unlink(file.path().c_str());
    MUSTER_CHECK(create_private_file(file.path()));
    return file;
  }
  PartialFile(PartialFile&& other) noexcept : final_path_(std::exchange(other.final_path_, {})) {}
  ~PartialFile() {
    if (!final_path_.empty()) unlink(path().c_str());
  }

  std::string path() const { return partial_file(final_path_); }
  Status finish() {
    MUSTER_CHECK(sync_path(path()));
    MUSTER_CHECK(rename_durably(path(), final_path_));
    final_path_.clear();
    return {};
  }

 private:
  explicit PartialFile(std::string final_path) : final_path_(std::move(final_path)) {}
  std::string final_path_;
};

// One read transaction, so the copy is of one moment; writers and checkpoints go on meanwhile.
Status copy_database(Database& from, const std::string& to) {
  MUSTER_TRY(auto copy, from.prepare("VACUUM INTO ?"));
  return copy.bind(1, std::string_view(to)).run();
}

Result<Audit> audit_file(const std::string& file) {
  MUSTER_TRY(auto database, Database::open(file, Database::Mode::kReadOnly, ""));
  std::string fault;
  auto audit = audit_rows(
      database, [](const Record&) {},
      [&](std::string what) {
        fault = std::move(what);
        return false;
      });
  if (!audit) fault = audit.error().message;
  if (!fault.empty()) return fail(Code::kInternal, fmt::format("{}: {}", file, fault));
  return audit;
}

// SQLite would take the log of the database that was here before for one of the restored database,
// and play it back into that.
Status refuse_leftover_log(const std::string& log) {
  if (access(log.c_str(), F_OK) != 0) return {};
  return fail(
      Code::kAlreadyExists,
      fmt::format("{} is there, the log of a database that is gone: move it away first", log));
}

// Whatever is there survives, nothing before the jump can be watched, and counting goes on behind
// it.
Status jump_forward(Database& database, const Audit& audit) {
  Survivors survivors;
  MUSTER_TRY(auto rows, database.prepare("SELECT revision FROM revisions ORDER BY revision"));
  while (true) {
    MUSTER_TRY(const bool row, rows.step());
    if (!row) break;
    survivors.insert(static_cast<Revision>(rows.integer(0)));
  }
  rows.reset();
  MUSTER_CHECK(survivors.write_all(database));
  const Revision base = (audit.newest / kRestoreStep + 1) * kRestoreStep;
  MUSTER_CHECK(write_meta(database, "base", static_cast<std::int64_t>(base)));
  return write_meta(database, "dense_from", static_cast<std::int64_t>(base + 1));
}

}  // namespace

Status backup_database(const std::string& database_file, const std::string& vfs,
                       const std::string& backup_file) {
  MUSTER_TRY(auto part, PartialFile::create(backup_file));
  {
    MUSTER_TRY(auto database, Database::open(database_file, Database::Mode::kReadWrite, vfs));
    database.keep_log_on_close();
    MUSTER_CHECK(copy_database(database, part.path()));
  }
  MUSTER_CHECK(audit_file(part.path()));
  return part.finish();
}

Result<std::string> find_lost_changes(const std::string& dir) {
  if (access(database_file(dir).c_str(), F_OK) != 0)
    return fail(Code::kNotFound, fmt::format("there is no database {}", database_file(dir)));
  const Revision acknowledged = AcknowledgedNote::read(dir);
  const auto alone = DataDirectory::lock(dir);
  if (!alone && alone.error().code == Code::kConflict) return "";
  MUSTER_TRY(const LogInspection log, inspect_log(database_file(dir) + "-wal", ""));
  if (!log.damage.empty()) return log.damage;
  MUSTER_TRY(auto database, Database::open(database_file(dir), Database::Mode::kReadWrite, ""));
  database.keep_log_on_close();
  MUSTER_TRY(const Revision newest, read_newest(database));
  return describe_loss(newest, acknowledged, log.sound_end);
}

Status restore_sqlite(const std::string& backup_file, const std::string& dir) {
  MUSTER_TRY(const Audit audit, audit_file(backup_file));
  MUSTER_TRY(auto directory, DataDirectory::lock(dir));
  MUSTER_CHECK(refuse_leftover_log(directory.database_file() + "-wal"));
  MUSTER_TRY(auto part, PartialFile::create(directory.database_file()));
  {
    MUSTER_TRY(auto backup, Database::open(backup_file, Database::Mode::kReadOnly, ""));
    MUSTER_CHECK(copy_database(backup, part.path()));
    MUSTER_TRY(auto copy, Database::open(part.path(), Database::Mode::kReadWrite, ""));
    MUSTER_CHECK(copy.transaction([&] { return jump_forward(copy, audit); }));
  }
  MUSTER_CHECK(audit_file(part.path()));
  MUSTER_CHECK(part.finish());
  return directory.mark_initialized();
}

}  // namespace muster::store
