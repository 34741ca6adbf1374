// Any damage to the database or the write-ahead log: the directory is refused in words, or every
// row that is read is one that was written. The input is a list of edits: two bytes of position,
// one that is mixed in; the first byte says which file they are made to, and whether it is cut.
#include <cstddef>
#include <cstdint>
#include <string>

#include "store/durability.h"
#include "store/testing/faulty_vfs.h"
#include "store/testing/temp_directory.h"

namespace muster::store {
namespace {

using testing::FaultyDisk;
using testing::TempDirectory;

constexpr Revision kLastRevision = 5;

struct Files {
  std::string database;
  std::string log;
};

// A small data directory whose last changes are still in the log.
Files sound_files(const std::string& dir, FaultyDisk& disk) {
  auto durability =
      open_sqlite(dir, {.vfs = disk.vfs(), .reserved_log_bytes = 0, .checkpoint_thread = false});
  MUSTER_ASSERT(durability.has_value(), "a new directory opens");
  auto loaded = (*durability)->load([](const Record&) {});
  MUSTER_ASSERT(loaded.has_value(), "and is read");
  for (Revision revision = 2; revision <= kLastRevision; ++revision) {
    const Record record{revision, "pods", "default", "a", "{}"};
    MUSTER_ASSERT((*durability)->append({&record, 1}).has_value(), "and written to");
  }
  return {disk.read_file(dir + "/muster.db"), disk.read_file(dir + "/muster.db-wal")};
}

}  // namespace
}  // namespace muster::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::store;  // NOLINT: a test
  static const TempDirectory dir;
  static FaultyDisk disk;
  static const Files sound = sound_files(dir.path(), disk);
  if (size == 0) return 0;
  Files files = sound;
  std::string& edited = (data[0] & 1) != 0 ? files.log : files.database;
  for (std::size_t i = 1; i + 2 < size; i += 3) {
    const std::size_t position = (std::size_t{data[i]} << 8 | data[i + 1]) % edited.size();
    edited[position] = static_cast<char>(edited[position] ^ data[i + 2]);
  }
  if ((data[0] & 2) != 0) edited.resize(edited.size() * (data[0] >> 2) / 64);
  disk.write_file(dir / "muster.db", files.database);
  disk.write_file(dir / "muster.db-wal", files.log);
  disk.remove_file(dir / "muster.db-journal");

  if (auto opened = open_sqlite(
          dir.path(), {.vfs = disk.vfs(), .reserved_log_bytes = 0, .checkpoint_thread = false})) {
    Revision last = 1;
    (void)(*opened)->load([&](const Record& record) {
      MUSTER_ASSERT(record.revision == last + 1 && record.revision <= kLastRevision,
                    "no row is missing");
      MUSTER_ASSERT(record.text == "{}" && record.name == "a", "what is read was written");
      last = record.revision;
    });
  }
  (void)check_sqlite(dir.path(), {.vfs = disk.vfs()});
  return 0;
}
