// `muster check`: says in words everything that is wrong with a data directory.
#include <fmt/format.h>

#include <filesystem>

#include "store/acknowledged.h"
#include "store/data_directory.h"
#include "store/durability.h"
#include "store/sqlite_format.h"
#include "store/wal_inspection.h"

namespace muster::store {
namespace {

using sqlite::Database;

// More than this says nothing more.
constexpr std::size_t kMaxFaults = 1'000;

// SQLite's own look at its pages. Answers one row "ok" if there is nothing to say.
Status check_pages(Database& database, std::vector<std::string>& faults) {
  MUSTER_TRY(auto query, database.prepare("PRAGMA integrity_check(100)"));
  while (faults.size() < kMaxFaults) {
    MUSTER_TRY(const bool row, query.step());
    if (!row) break;
    if (query.text(0) != "ok") faults.push_back(fmt::format("SQLite: {}", query.text(0)));
  }
  return {};
}

// What the rows must be, and how far they must go.
struct Wanted {
  RecordRule rule = nullptr;
  Revision acknowledged = 0;
  std::uint64_t log_end = 0;
};

Status check_rows(Database& database, const Wanted& wanted, std::vector<std::string>& faults) {
  const auto note = [&](std::string fault) {
    if (!fault.empty() && faults.size() < kMaxFaults) faults.push_back(std::move(fault));
    return faults.size() < kMaxFaults;
  };
  MUSTER_TRY(const Audit audit, audit_rows(
                                    database,
                                    [&](const Record& record) {
                                      if (wanted.rule != nullptr) note(wanted.rule(record));
                                    },
                                    note));
  note(describe_loss(audit.newest, wanted.acknowledged, wanted.log_end));
  return {};
}

}  // namespace

Result<std::vector<std::string>> check_sqlite(const std::string& dir, const CheckOptions& options) {
  std::vector<std::string> faults;
  if (!std::filesystem::is_directory(dir))
    return fail(Code::kNotFound, fmt::format("there is no directory {}", dir));
  const std::string file = database_file(dir);
  // The note is read before the database, which a running server carries further meanwhile.
  Wanted wanted{.rule = options.rule, .acknowledged = AcknowledgedNote::read(dir)};
  // A running server writes to the log meanwhile, and has looked at it itself when it started.
  const auto alone = DataDirectory::lock(dir);
  const bool in_use = !alone && alone.error().code == Code::kConflict;
  if (!in_use) {
    MUSTER_TRY(const LogInspection log, inspect_log(file + "-wal", options.vfs));
    if (!log.damage.empty()) faults.push_back(log.damage);
    wanted.log_end = log.sound_end;
  }
  MUSTER_TRY(auto database, Database::open(file, Database::Mode::kReadWrite, options.vfs));
  database.keep_log_on_close();
  // Each looks at what it can even if the other one fails; what stops it is a fault as well.
  const auto note = [&](const Status& done) {
    if (!done) faults.push_back(done.error().message);
  };
  note(check_rows(database, wanted, faults));
  note(check_pages(database, faults));
  return faults;
}

}  // namespace muster::store
