// Writes zeros to the write-ahead log: where a power cut has left remains, and ahead of its end.
//
// A sync of a file that has grown also writes where its new blocks are, and waits for the file
// system to note that they are in use: that takes several times as long as to overwrite blocks
// which are there, and now and then much longer. So the part of the log that a server uses under
// an ordinary load is filled with zeros when the server starts.
//
// This is safe whenever the power fails. SQLite takes a frame for written only if it bears the
// log's salt and continues the checksum of the frame before; zeros do neither, wherever they end.
#pragma once

#include <cstdint>

#include "store/sqlite.h"

namespace muster::store {

// Lengthens the log to `bytes`, if it is shorter. Called while nobody else uses the database.
// Without the space for it the log grows as it is written. Fails only if a sync fails: that may
// concern other bytes of the log too.
Status reserve_log(sqlite::Database& database, std::uint64_t bytes);

// Overwrites what lies between two places of the log, in the length that it has: the remains of a
// transaction that was never finished. Called before anything is written to the database, which
// begins at `from`. Where even this needs space and there is none, they stay: until the next start
// they could only hide damage, or look like it after another power cut.
Status erase_log(sqlite::Database& database, std::uint64_t from, std::uint64_t to);

}  // namespace muster::store
