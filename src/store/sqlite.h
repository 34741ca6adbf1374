// SQLite as values: databases and statements that close themselves, errors as Result.
//
// A Database belongs to one thread at a time, with its statements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster::store::sqlite {

class Statement {
 public:
  // Text must stay valid until the next reset().
  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, std::string_view text);
  Statement& bind_blob(int place, std::string_view bytes);

  Result<bool> step();  // true: there is a row to read
  Status run();         // to the end, then ready to be bound again
  void reset();

  // Of the present row; text and blobs until the next step() or reset().
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Mode { kCreate, kReadWrite, kReadOnly };
  static Result<Database> open(const std::string& path, Mode mode, const std::string& vfs);

  Status exec(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> integer(std::string_view sql);  // of a query that gives one
  Result<std::string> text(std::string_view sql);
  // Runs within one transaction; rolls back if `work` fails.
  template <class Work>
  Status transaction(Work&& work) {
    MUSTER_CHECK(exec("BEGIN IMMEDIATE"));
    Status done = work();
    if (done) done = exec("COMMIT");
    if (!done) rollback();
    return done;
  }
  bool rollback();  // false: it failed, so this connection must not be used any more

  // Of the last call that failed: SQLite's primary and extended result code.
  int primary_code() const;
  int extended_code() const;

  // How long to try when another connection holds a lock.
  void set_patience(int milliseconds);
  // Leaves the write-ahead log alone when this is the last connection to be closed.
  void keep_log_on_close(bool keep = true);
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// "disk I/O error (fsync): No space left on device", from the last failed call; kUnavailable if it
// may well work later, kInternal otherwise.
Error last_error(sqlite3* handle);

}  // namespace muster::store::sqlite
