// The one small interface between the store and a disk. Called from the commit thread only, but for
// load() (before it starts), backup() and log_bytes().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster::store {

using Revision = std::uint64_t;

// The revision of a store that nothing was ever written to. Not 0, which clients take for "any".
constexpr Revision kFirstRevision = 1;

// One revision as it lies on disk: which object, and its text. A deletion holds the final state, so
// that history survives a restart.
struct Record {
  Revision revision = 0;
  std::string_view resource;  // "jobs.batch"
  std::string_view ns;
  std::string_view name;
  std::string_view text;
  bool deleted = false;
};

// Up to here (inclusive) the history of a resource may have holes.
struct Floor {
  std::string resource;
  Revision revision = 0;
};

class Durability {
 public:
  virtual ~Durability() = default;

  struct Loaded {
    Revision newest = kFirstRevision;
    Revision base = kFirstRevision;  // no resource has history before this
    std::vector<Floor> floors;
  };
  // All records in revision order. Checks every checksum and the chain of revisions; fails naming
  // the first damaged record. A record that was superseded or is a deletion may be missing if it
  // was forgotten.
  virtual Result<Loaded> load(const std::function<void(const Record&)>& each) = 0;

  // Durable when it returns. The revisions follow each other and the newest without a gap.
  // kUnavailable: nothing was written and it may be tried again (disk full).
  // kInternal: it is not known what is on disk (failed sync); it writes no more.
  virtual Status append(std::span<const Record> group) = 0;

  // Drops superseded revisions and past deletions, all or nothing; the floors say which history
  // that ends. A crash in between loses nothing. May be tried again if it fails.
  virtual Status forget(std::span<const Revision> revisions, std::span<const Floor> floors) = 0;

  virtual Status backup(const std::string& file) = 0;    // any thread
  virtual std::uint64_t log_bytes() const { return 0; }  // written and not yet in place; any thread
};

struct SqliteOptions {
  std::string vfs;  // a registered SQLite VFS, for tests; empty is the system's
  // Checkpoints begin when the write-ahead log is this long, and make writers wait when it is that
  // long.
  std::size_t checkpoint_bytes = 4u << 20;
  std::size_t max_log_bytes = 32u << 20;
  // Of the log, written ahead when it is opened (log_reserve.h): as far as it comes while each
  // checkpoint catches up with it.
  std::size_t reserved_log_bytes = 8u << 20;
  // Checkpoints run on a thread of their own; false: within append() and forget(), so that tests
  // repeat.
  bool checkpoint_thread = true;
};

// SQLite in `dir`/muster.db (docs/data-directory.md). Creates the directory with mode 0700 and
// locks it. Fails if another process holds it, if it is open to other users, of a newer format, or
// damaged.
Result<std::unique_ptr<Durability>> open_sqlite(const std::string& dir,
                                                const SqliteOptions& options = {});
std::unique_ptr<Durability> make_memory_durability();  // keeps nothing

// Looks at a record whose checksum fits: the fault in words, or empty. object_text.h has one
// for objects. Any thread.
using RecordRule = std::string (*)(const Record&);

struct CheckOptions {
  std::string vfs;  // as in SqliteOptions
  RecordRule rule = nullptr;
};
// `muster check DIR`: every fault found, in words; empty if the data is sound. Fails if it cannot
// be read at all. Changes nothing; may run beside a server.
Result<std::vector<std::string>> check_sqlite(const std::string& dir,
                                              const CheckOptions& options = {});
// Puts a backup in place as `dir`, which must hold no data yet. Its revision jumps forward to the
// next multiple of kRestoreStep and its history is closed, so that no client's cache can hide
// changes: whatever was written after the backup had a smaller revision.
Status restore_sqlite(const std::string& backup_file, const std::string& dir);
// More than a year of revisions at 30,000 a second; 2^53, where JSON numbers end, is 8,191 restores
// away.
constexpr Revision kRestoreStep = Revision{1} << 40;

}  // namespace muster::store
