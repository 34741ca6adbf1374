// The one small interface between the store and a disk. Called from the commit thread only, but for load()
// (before it starts) and backup().
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::store {

using Revision = std::uint64_t;

// One revision as it lies on disk: which object, and its text; no text is a deletion (then `text` holds the
// final state and `deleted` is set, so that history survives a restart).
struct Record {
  Revision revision = 0;
  std::string_view resource;  // "jobs.batch"
  std::string_view ns;
  std::string_view name;
  std::string_view text;
  bool deleted = false;
};

class Durability {
 public:
  virtual ~Durability() = default;
  // All records in revision order. Checks every checksum and the chain of revisions; fails naming the first
  // damaged record.
  virtual Status load(const std::function<void(const Record&)>& each) = 0;
  // Durable when it returns. kUnavailable: nothing was written and it may be tried again (disk full).
  // kInternal: it is not known what is on disk (failed sync); the caller must write no more.
  virtual Status append(std::span<const Record> group) = 0;
  // Drops the given superseded revisions. A crash in between loses nothing.
  virtual Status forget(std::span<const Revision> revisions) = 0;
  virtual Status backup(const std::string& file) = 0;  // any thread
};

// SQLite in `dir`/muster.db (WAL, synchronous=FULL). Creates the directory with mode 0700. `vfs` names a
// registered SQLite VFS, for tests; empty is the system's.
Result<std::unique_ptr<Durability>> open_sqlite(const std::string& dir, const std::string& vfs = "");
std::unique_ptr<Durability> make_memory_durability();  // keeps nothing; for tests and simulation

// `muster check DIR`: every fault found, in words; empty if the data is sound. Fails if it cannot be read at all.
Result<std::vector<std::string>> check_sqlite(const std::string& dir);
// Puts a backup in place as `dir`; its revision jumps forward, so that no client's cache can hide changes.
Status restore_sqlite(const std::string& backup_file, const std::string& dir);

}  // namespace muster::store
