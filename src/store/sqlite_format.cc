#include "store/sqlite_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "store/crc32c.h"
#include "store/object_text.h"
#include "store/survivors.h"

namespace muster::store {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE revisions(
  revision INTEGER PRIMARY KEY,
  resource TEXT NOT NULL,
  ns TEXT NOT NULL,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE survivors(
  block INTEGER PRIMARY KEY,
  bits BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
)";

constexpr std::string_view kFloorPrefix = "floor/";

// Every field with its length, so that no two rows give the same bytes.
std::uint32_t add_field(std::uint32_t so_far, std::string_view field) {
  return crc32c(field, crc32c(fmt::format("{}:", field.size()), so_far));
}

std::uint32_t checksum_of_meta(std::string_view key, std::int64_t value) {
  return add_field(add_field(0, key), std::to_string(value));
}

std::string missing(Revision first, Revision last) {
  if (first == last) return fmt::format("revision {} is missing", first);
  return fmt::format("revisions {} to {} are missing", first, last);
}

// Rows at the end may have been forgotten; the count does not go back with them.
Revision newest_of(const Layout& layout, Revision last_row) {
  return std::max({layout.base, layout.dense_from - 1, last_row});
}

// Follows the rows in order and finds out which ones are missing, or there although they must not
// be.
class Chain {
 public:
  Chain(const Layout& layout, Survivors survivors, std::function<void(std::string)> fault)
      : layout_(layout), survivors_(std::move(survivors)), fault_(std::move(fault)) {}

  void arrive(const Record& record) {
    if (seen_ != 0 && record.revision <= seen_) fault_(name_of(record) + " stands out of order");
    find_missing(record.revision);
    if (record.revision < layout_.dense_from && !survivors_.contains(record.revision)) {
      fault_(name_of(record) + " is there although it was forgotten");
    }
    seen_ = std::max(seen_, record.revision);
  }

  Revision finish() {
    find_missing(layout_.dense_from);
    return newest_of(layout_, seen_);
  }

 private:
  // What should be there between the last row and `next`, and is not.
  void find_missing(Revision next) {
    for (Revision revision = survivors_.next(seen_ + 1);
         revision != 0 && revision < std::min(next, layout_.dense_from);
         revision = survivors_.next(revision + 1)) {
      fault_(missing(revision, revision));
    }
    const Revision first = std::max(seen_ + 1, layout_.dense_from);
    if (first < next) fault_(missing(first, next - 1));
  }

  const Layout& layout_;
  const Survivors survivors_;
  const std::function<void(std::string)> fault_;
  Revision seen_ = 0;
};

Status check_format(std::int64_t format) {
  if (format == kFormat) return {};
  return fail(
      Code::kInternal,
      fmt::format(
          "the data was written by a {} version of muster (format {}; this one reads format {})",
          format > kFormat ? "newer" : "damaged or unknown", format, kFormat));
}

}  // namespace

std::uint32_t checksum_of(const Record& record) {
  std::uint32_t sum = add_field(0, std::to_string(record.revision));
  for (const std::string_view field : {record.resource, record.ns, record.name, record.text}) {
    sum = add_field(sum, field);
  }
  return add_field(sum, record.deleted ? "1" : "0");
}

Status create_tables(sqlite::Database& database) {
  MUSTER_CHECK(database.exec(kTables));
  const Layout fresh;
  MUSTER_CHECK(write_meta(database, "format", kFormat));
  MUSTER_CHECK(write_meta(database, "base", static_cast<std::int64_t>(fresh.base)));
  return write_meta(database, "dense_from", static_cast<std::int64_t>(fresh.dense_from));
}

Status write_meta(sqlite::Database& database, const std::string& key, std::int64_t value) {
  MUSTER_TRY(auto put, database.prepare("INSERT OR REPLACE INTO meta VALUES(?, ?, ?)"));
  return put.bind(1, key).bind(2, value).bind(3, std::int64_t{checksum_of_meta(key, value)}).run();
}

Status write_floor(sqlite::Database& database, const Floor& floor) {
  return write_meta(database, std::string(kFloorPrefix) + floor.resource,
                    static_cast<std::int64_t>(floor.revision));
}

Result<Layout> read_layout(sqlite::Database& database) {
  Layout layout;
  std::optional<std::int64_t> format, base, dense_from;
  MUSTER_TRY(
      auto query,
      database.prepare("SELECT key, value, checksum FROM meta ORDER BY key = 'format' DESC, key"));
  while (true) {
    MUSTER_TRY(const bool row, query.step());
    if (!row) break;
    const std::string key(query.text(0));
    const std::int64_t value = query.integer(1);
    if (query.integer(2) != checksum_of_meta(key, value)) {
      return fail(Code::kInternal, fmt::format("the table meta is damaged at \"{}\"", key));
    }
    if (key == "format") {
      MUSTER_CHECK(check_format(value));
      format = value;
    } else if (key == "base") {
      base = value;
    } else if (key == "dense_from") {
      dense_from = value;
    } else if (key.starts_with(kFloorPrefix)) {
      layout.floors.push_back({key.substr(kFloorPrefix.size()), static_cast<Revision>(value)});
    }
  }
  if (!format || !base || !dense_from)
    return fail(Code::kInternal, "the table meta is damaged: a row is missing");
  layout.base = static_cast<Revision>(*base);
  layout.dense_from = static_cast<Revision>(*dense_from);
  return layout;
}

Result<Revision> read_newest(sqlite::Database& database) {
  MUSTER_TRY(const Layout layout, read_layout(database));
  MUSTER_TRY(const std::int64_t last_row,
             database.integer("SELECT ifnull(max(revision), 0) FROM revisions"));
  return newest_of(layout, static_cast<Revision>(last_row));
}

Result<Audit> audit_rows(sqlite::Database& database, const std::function<void(const Record&)>& each,
                         const std::function<bool(std::string)>& fault) {
  bool go_on = true;
  const auto report = [&](std::string what) { go_on = go_on && fault(std::move(what)); };
  Audit audit;
  MUSTER_TRY(audit.layout, read_layout(database));
  MUSTER_TRY(Survivors survivors, Survivors::read(database, report));
  Chain chain(audit.layout, std::move(survivors), report);
  MUSTER_TRY(auto query,
             database.prepare("SELECT revision, resource, ns, name, text, deleted, checksum "
                              "FROM revisions ORDER BY revision"));
  while (go_on) {
    MUSTER_TRY(const bool row, query.step());
    if (!row) break;
    const Record record{.revision = static_cast<Revision>(query.integer(0)),
                        .resource = query.text(1),
                        .ns = query.text(2),
                        .name = query.text(3),
                        .text = query.text(4),
                        .deleted = query.integer(5) != 0};
    chain.arrive(record);
    if (query.integer(6) == checksum_of(record)) {
      each(record);
    } else {
      report(name_of(record) + " is damaged: its checksum does not fit");
    }
  }
  if (go_on) audit.newest = chain.finish();
  return audit;
}

}  // namespace muster::store
