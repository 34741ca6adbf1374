#include "store/survivors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "store/crc32c.h"

namespace muster::store {
namespace {

constexpr std::size_t kBlobSize = Survivors::kBlock / 8;
static_assert(std::endian::native == std::endian::little,
              "the bits lie on disk as they lie in memory");

struct Place {
  Revision block;
  std::size_t word;
  std::uint64_t bit;
};
Place place_of(Revision revision) {
  const Revision within = revision % Survivors::kBlock;
  return {revision / Survivors::kBlock, within / 64, std::uint64_t{1} << (within % 64)};
}

std::uint32_t checksum_of_block(Revision block, std::string_view bits) {
  return crc32c(bits, crc32c(std::to_string(block)));
}

}  // namespace

bool Survivors::contains(Revision revision) const {
  const Place place = place_of(revision);
  const auto found = blocks_.find(place.block);
  return found != blocks_.end() && (found->second[place.word] & place.bit) != 0;
}

Revision Survivors::next(Revision from) const {
  for (auto block = blocks_.lower_bound(from / kBlock); block != blocks_.end(); ++block) {
    const Revision first = block->first * kBlock;
    for (Revision revision = std::max(from, first); revision < first + kBlock; ++revision) {
      if (contains(revision)) return revision;
    }
  }
  return 0;
}

void Survivors::insert(Revision revision) {
  const Place place = place_of(revision);
  blocks_[place.block][place.word] |= place.bit;
}

void Survivors::erase(Revision revision) {
  const Place place = place_of(revision);
  blocks_[place.block][place.word] &= ~place.bit;
}

Result<Survivors> Survivors::read(sqlite::Database& database,
                                  const std::function<void(std::string)>& fault) {
  Survivors all;
  MUSTER_TRY(auto query,
             database.prepare("SELECT block, bits, checksum FROM survivors ORDER BY block"));
  while (true) {
    MUSTER_TRY(const bool row, query.step());
    if (!row) return all;
    const auto block = static_cast<Revision>(query.integer(0));
    const std::string_view bits = query.blob(1);
    if (bits.size() != kBlobSize || query.integer(2) != checksum_of_block(block, bits)) {
      fault(fmt::format(
          "the list of remaining revisions from {} to {} (survivors, block {}) is damaged",
          block * kBlock, block * kBlock + kBlock - 1, block));
      continue;
    }
    std::memcpy(all.blocks_[block].data(), bits.data(), kBlobSize);
  }
}

Status Survivors::load_block(sqlite::Database& database, Revision block) {
  if (blocks_.contains(block)) return {};
  Bits& bits = blocks_[block];
  bits.fill(0);
  MUSTER_TRY(auto query, database.prepare("SELECT bits FROM survivors WHERE block = ?"));
  MUSTER_TRY(const bool row, query.bind(1, static_cast<std::int64_t>(block)).step());
  if (row && query.blob(0).size() == kBlobSize)
    std::memcpy(bits.data(), query.blob(0).data(), kBlobSize);
  return {};
}

Status Survivors::write_block(sqlite::Database& database, Revision block, const Bits& bits) const {
  const auto number = static_cast<std::int64_t>(block);
  if (std::ranges::all_of(bits, [](std::uint64_t word) { return word == 0; })) {
    MUSTER_TRY(auto drop, database.prepare("DELETE FROM survivors WHERE block = ?"));
    return drop.bind(1, number).run();
  }
  const std::string_view blob(reinterpret_cast<const char*>(bits.data()), kBlobSize);
  MUSTER_TRY(auto put, database.prepare("INSERT OR REPLACE INTO survivors VALUES(?, ?, ?)"));
  return put.bind(1, number)
      .bind_blob(2, blob)
      .bind(3, std::int64_t{checksum_of_block(block, blob)})
      .run();
}

Status Survivors::write_all(sqlite::Database& database) const {
  MUSTER_CHECK(database.exec("DELETE FROM survivors"));
  for (const auto& [block, bits] : blocks_) MUSTER_CHECK(write_block(database, block, bits));
  return {};
}

Result<Revision> Survivors::forget(sqlite::Database& database, std::span<const Revision> revisions,
                                   Revision dense_from) {
  if (revisions.empty()) return dense_from;
  Survivors touched;
  const Revision dense_after = std::max(dense_from, *std::ranges::max_element(revisions) + 1);
  for (Revision revision = dense_from; revision < dense_after; ++revision) {
    MUSTER_CHECK(touched.load_block(database, revision / kBlock));
    touched.insert(revision);
  }
  for (const Revision revision : revisions) {
    MUSTER_CHECK(touched.load_block(database, revision / kBlock));
    MUSTER_ASSERT(touched.contains(revision), "only what is there can be forgotten");
    touched.erase(revision);
  }
  for (const auto& [block, bits] : touched.blocks_)
    MUSTER_CHECK(touched.write_block(database, block, bits));
  return dense_after;
}

}  // namespace muster::store
