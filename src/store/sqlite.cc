#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

namespace muster::store::sqlite {
namespace {

bool may_work_later(int primary_code) {
  return primary_code == SQLITE_FULL || primary_code == SQLITE_BUSY ||
         primary_code == SQLITE_LOCKED || primary_code == SQLITE_NOMEM ||
         primary_code == SQLITE_IOERR || primary_code == SQLITE_CANTOPEN;
}

int open_flags(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Database::Mode::kReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Database::Mode::kReadOnly:
      return SQLITE_OPEN_READONLY;
  }
  return 0;
}

// Short steps: a checkpoint holds its lock for a moment only, and SQLite's own steps grow to 100
// ms.
int wait_a_millisecond(void* patience, int tries) {
  if (tries >= static_cast<int>(reinterpret_cast<std::intptr_t>(patience))) return 0;
  sqlite3_sleep(1);
  return 1;
}

}  // namespace

Error last_error(sqlite3* handle) {
  const int extended = sqlite3_extended_errcode(handle);
  Error error{.code = may_work_later(extended & 0xff) ? Code::kUnavailable : Code::kInternal,
              .message = sqlite3_errmsg(handle)};
  if ((extended >> 8) != 0) error.message += fmt::format(" (SQLite code {})", extended);
  if (const int system = sqlite3_system_errno(handle); system != 0) {
    error.message += fmt::format(": {}", std::strerror(system));
  }
  return error;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int place, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), place, value);
  MUSTER_ASSERT(code == SQLITE_OK, "parameters are bound as the statement has them");
  return *this;
}

// An empty view may have no address, which SQLite would take for NULL.
Statement& Statement::bind(int place, std::string_view text) {
  const char* data = text.empty() ? "" : text.data();
  const int code =
      sqlite3_bind_text64(statement_.get(), place, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  MUSTER_ASSERT(code == SQLITE_OK, "parameters are bound as the statement has them");
  return *this;
}

Statement& Statement::bind_blob(int place, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  const int code = sqlite3_bind_blob64(statement_.get(), place, data, bytes.size(), SQLITE_STATIC);
  MUSTER_ASSERT(code == SQLITE_OK, "parameters are bound as the statement has them");
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(last_error(sqlite3_db_handle(statement_.get())));
}

Status Statement::run() {
  Result<bool> row = true;
  while (row && *row) row = step();
  reset();
  if (!row) return std::unexpected(std::move(row).error());
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view()
                         : std::string_view(data, static_cast<std::size_t>(size));
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view()
                         : std::string_view(data, static_cast<std::size_t>(size));
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::string& path, Mode mode, const std::string& vfs) {
  sqlite3* handle = nullptr;
  const int flags = open_flags(mode) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  Database database;
  database.handle_.reset(handle);
  if (handle == nullptr) return fail(Code::kUnavailable, fmt::format("{}: out of memory", path));
  if (code != SQLITE_OK) {
    Error error = last_error(handle);
    error.message = fmt::format("{}: {}", path, error.message);
    return std::unexpected(std::move(error));
  }
  return database;
}

Status Database::exec(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return std::unexpected(last_error(handle_.get()));
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(last_error(handle_.get()));
  return Statement(statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  MUSTER_TRY(Statement query, prepare(sql));
  MUSTER_TRY(const bool row, query.step());
  MUSTER_ASSERT(row, "the query gives a row");
  return query.integer(0);
}

Result<std::string> Database::text(std::string_view sql) {
  MUSTER_TRY(Statement query, prepare(sql));
  MUSTER_TRY(const bool row, query.step());
  MUSTER_ASSERT(row, "the query gives a row");
  return std::string(query.text(0));
}

bool Database::rollback() {
  // After some errors SQLite has rolled back already.
  if (sqlite3_get_autocommit(handle_.get()) != 0) return true;
  return exec("ROLLBACK").has_value() || sqlite3_get_autocommit(handle_.get()) != 0;
}

int Database::primary_code() const { return extended_code() & 0xff; }
int Database::extended_code() const { return sqlite3_extended_errcode(handle_.get()); }

void Database::set_patience(int milliseconds) {
  sqlite3_busy_handler(handle_.get(), wait_a_millisecond,
                       reinterpret_cast<void*>(static_cast<std::intptr_t>(milliseconds)));
}

void Database::keep_log_on_close(bool keep) {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr);
}

}  // namespace muster::store::sqlite
