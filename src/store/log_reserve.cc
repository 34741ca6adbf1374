#include "store/log_reserve.h"

#include <sqlite3.h>

#include <algorithm>
#include <vector>

namespace muster::store {
namespace {

constexpr std::uint64_t kPiece = 256 * 1024;

int write_zeros(sqlite3_file* file, std::uint64_t from, std::uint64_t to) {
  const std::vector<char> zeros(std::min(kPiece, to - from));
  while (from < to) {
    const std::uint64_t size = std::min<std::uint64_t>(zeros.size(), to - from);
    const int code = file->pMethods->xWrite(file, zeros.data(), static_cast<int>(size),
                                            static_cast<sqlite3_int64>(from));
    if (code != SQLITE_OK) return code;
    from += size;
  }
  return SQLITE_OK;
}

// Null if the log is not open.
sqlite3_file* log_of(sqlite::Database& database) {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                       static_cast<void*>(&log));
  return log == nullptr || log->pMethods == nullptr ? nullptr : log;
}

}  // namespace

Status erase_log(sqlite::Database& database, std::uint64_t from, std::uint64_t to) {
  if (from >= to) return {};
  sqlite3_file* log = log_of(database);
  const int written = log == nullptr ? SQLITE_ERROR : write_zeros(log, from, to);
  if (written == SQLITE_FULL) return {};
  if (written == SQLITE_OK && log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK) return {};
  return fail(Code::kInternal, "the end of the write-ahead log cannot be written");
}

Status reserve_log(sqlite::Database& database, std::uint64_t bytes) {
  sqlite3_file* log = log_of(database);
  sqlite3_int64 size = 0;
  if (log == nullptr || log->pMethods->xFileSize(log, &size) != SQLITE_OK ||
      static_cast<std::uint64_t>(size) >= bytes) {
    return {};
  }
  // What a full disk has taken is given back.
  if (write_zeros(log, static_cast<std::uint64_t>(size), bytes) != SQLITE_OK)
    log->pMethods->xTruncate(log, size);
  if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK) return {};
  return fail(Code::kInternal, "the write-ahead log cannot be synced");
}

}  // namespace muster::store
