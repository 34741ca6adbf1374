// What stands in the tables of muster.db, and what must be true of it. docs/data-directory.md is
// the same in prose.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/durability.h"
#include "store/sqlite.h"

namespace muster::store {

constexpr std::int64_t kFormat = 1;

// The contents of the table `meta`.
struct Layout {
  Revision base = kFirstRevision;  // counting began here, or was taken up here by a restore
  Revision dense_from = kFirstRevision + 1;  // every revision from here on has its row
  std::vector<Floor> floors;
};

std::uint32_t checksum_of(const Record& record);

Status create_tables(sqlite::Database& database);  // within a transaction of the caller's
// Fails in words if the format is newer or the table is damaged.
Result<Layout> read_layout(sqlite::Database& database);
// The last revision that was written, without a look at the rows before it.
Result<Revision> read_newest(sqlite::Database& database);
Status write_meta(sqlite::Database& database, const std::string& key, std::int64_t value);
Status write_floor(sqlite::Database& database, const Floor& floor);

// Reads every row and checks it: its checksum, and that exactly those revisions are there that must
// be. Sound rows go to `each`, faults in words to `fault`; reading ends when that returns false.
struct Audit {
  Layout layout;
  Revision newest = kFirstRevision;
};
Result<Audit> audit_rows(sqlite::Database& database, const std::function<void(const Record&)>& each,
                         const std::function<bool(std::string)>& fault);

}  // namespace muster::store
