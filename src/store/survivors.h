// Which revisions are still there among those below which some were forgotten.
//
// From Layout::dense_from on every revision has its row, so a missing one is seen at once. Below,
// most rows have been forgotten on purpose, and the table `survivors` says which must still be
// there: one bit for each, in blocks of 1,024. A block without survivors has no row, so the table
// is never larger than a small part of the living objects.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "store/durability.h"
#include "store/sqlite.h"

namespace muster::store {

class Survivors {
 public:
  static constexpr Revision kBlock = 1'024;

  // All of them. A damaged block goes to `fault` in words, and counts as empty.
  static Result<Survivors> read(sqlite::Database& database,
                                const std::function<void(std::string)>& fault);

  bool contains(Revision revision) const;
  // The first one at or after `from`; 0 if there is none.
  Revision next(Revision from) const;
  void insert(Revision revision);
  void erase(Revision revision);

  // Replaces the whole table, or updates it from what a batch of forgotten rows leaves.
  Status write_all(sqlite::Database& database) const;
  // `dense_from` as it was; gives what it is afterwards.
  static Result<Revision> forget(sqlite::Database& database, std::span<const Revision> revisions,
                                 Revision dense_from);

 private:
  using Bits = std::array<std::uint64_t, kBlock / 64>;
  Status load_block(sqlite::Database& database, Revision block);
  Status write_block(sqlite::Database& database, Revision block, const Bits& bits) const;

  std::map<Revision, Bits> blocks_;  // by revision / kBlock
};

}  // namespace muster::store
