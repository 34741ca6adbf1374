// Backups of muster.db: plain SQLite files without a log beside them.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::store {

// Writes the present state of a database, which may be in use, to a new file. Any thread.
Status backup_database(const std::string& database_file, const std::string& vfs,
                       const std::string& backup_file);

// What acknowledged changes a backup of `dir` would lack because its log is damaged, in words;
// empty if it has everything, or if a server uses it: that has looked when it started.
Result<std::string> find_lost_changes(const std::string& dir);

}  // namespace muster::store
