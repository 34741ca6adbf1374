// Finds damage in a write-ahead log that SQLite itself passes over in silence.
//
// SQLite reads a log up to the first frame whose checksum does not fit, and takes the rest for what
// a crash left of an unfinished transaction. That is right for the last transaction, which a power
// cut may tear. But every transaction of ours is synced before the next one begins, so if two or
// more complete ones follow a bad frame, then the frame was sound once, and changes that were
// acknowledged would be lost.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::store {

// To be called before SQLite opens the database, which cuts the log where it ends for it. The fault
// in words, or empty if there is none (also if there is no log). `vfs` as for SQLite, empty is the
// system's.
Result<std::string> find_damage_in_log(const std::string& wal_file, const std::string& vfs);

}  // namespace muster::store
