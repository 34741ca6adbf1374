// Finds damage in a write-ahead log that SQLite itself passes over in silence.
//
// SQLite reads a log up to the first frame whose checksum does not fit, and takes the rest for what
// a crash left of an unfinished transaction. That is right for the last transaction, which a power
// cut may tear. But every transaction of ours is synced before the next one begins, so if a second
// complete one lies anywhere behind a bad frame, then the frame was sound once, and changes that
// were acknowledged would be lost. It counts only if it bears this log's salt: frames of an earlier
// log stay in the file until they are overwritten. A torn transaction bears the salt too, so its
// remains are erased before the next one is written (log_reserve.h): otherwise the remains of two
// crashes would look like damage.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace muster::store {

struct LogInspection {
  std::string damage;           // the fault and its place in words; empty: none
  std::uint64_t sound_end = 0;  // bytes up to the end of the last transaction that SQLite reads
  std::uint64_t torn_end = 0;   // bytes up to the last frame of this log; at least sound_end
};

// To be called before SQLite opens the database, which cuts the log where it ends for it. All zero
// if there is no log. `vfs` as for SQLite, empty is the system's.
Result<LogInspection> inspect_log(const std::string& wal_file, const std::string& vfs);

}  // namespace muster::store
