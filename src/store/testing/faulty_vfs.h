// A disk in memory below SQLite, for tests: it loses its power, fails, fills up and is damaged on
// demand.
//
// What a power cut does to it is what it may do to a real disk: of everything that was not synced,
// each change of a file is kept, lost, or torn between sectors of 512 bytes, independently of the
// others; a file that was created or removed may or may not be. What was synced is there. As on
// real disks, a write does not touch its neighbours (SQLite calls that powersafe overwrite).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace muster::store::testing {

enum class Fault {
  kError,     // EIO; for a sync: it fails
  kDiskFull,  // ENOSPC; hits only calls that make a file longer or write
};

// All methods may be called from any thread.
class FaultyDisk {
 public:
  FaultyDisk();  // registers a virtual file system of its own
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  const std::string& vfs() const;

  // The power fails in the middle of the nth change from now (write, truncation, sync, removal);
  // from then on every call fails.
  void cut_power_at_change(std::uint64_t nth);
  bool has_power() const;
  // The power is back. All files must have been closed.
  void restart(Rng& rng);

  // The nth call from now that this fault can hit fails, once. A write may then have happened in
  // part.
  void fail_call(std::uint64_t nth, Fault fault);
  std::optional<std::string> failed_call()
      const;  // "sync muster.db-wal"; nothing until it has happened
  // Writes fail with ENOSPC while all files together are longer than this.
  void set_capacity(std::optional<std::uint64_t> bytes);

  // The files as a program sees them; a written file counts as synced.
  std::string read_file(const std::string& path) const;
  void write_file(const std::string& path, const std::string& bytes);
  void remove_file(const std::string& path);
  std::vector<std::string> files() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::store::testing
