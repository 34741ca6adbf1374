// `muster check`: says in words everything that is wrong with a data directory.
#include <fmt/format.h>

#include <filesystem>

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

Status check_rows(Database& database, std::vector<std::string>& faults) {
  MUSTER_CHECK(audit_rows(
      database, [](const Record&) {},
      [&](std::string fault) {
        faults.push_back(std::move(fault));
        return faults.size() < kMaxFaults;
      }));
  return {};
}

}  // namespace

Result<std::vector<std::string>> check_sqlite(const std::string& dir, const std::string& vfs) {
  std::vector<std::string> faults;
  if (!std::filesystem::is_directory(dir))
    return fail(Code::kNotFound, fmt::format("there is no directory {}", dir));
  const std::string file = database_file(dir);
  // A running server writes to the log meanwhile, and has looked at it itself when it started.
  const auto alone = DataDirectory::lock(dir);
  const bool in_use = !alone && alone.error().code == Code::kConflict;
  if (!in_use) {
    MUSTER_TRY(const std::string damage, find_damage_in_log(file + "-wal", vfs));
    if (!damage.empty()) faults.push_back(damage);
  }
  MUSTER_TRY(auto database, Database::open(file, Database::Mode::kReadWrite, vfs));
  database.keep_log_on_close();
  // Each looks at what it can even if the other one fails; what stops it is a fault as well.
  for (const auto check : {check_rows, check_pages}) {
    if (const Status done = check(database, faults); !done) faults.push_back(done.error().message);
  }
  return faults;
}

}  // namespace muster::store
