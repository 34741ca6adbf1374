// The files of a disk in memory: what a program sees, what is durable, and what a power cut makes
// of the rest.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"

namespace muster::store::testing {

constexpr std::size_t kSector = 512;

// A change of a file that may not have reached the disk yet.
struct Change {
  bool truncate = false;
  std::size_t offset = 0;  // of the data, or the new length
  std::string data;
};

inline void perform(const Change& change, std::string& bytes) {
  if (change.truncate) {
    bytes.resize(change.offset);
  } else {
    if (bytes.size() < change.offset + change.data.size())
      bytes.resize(change.offset + change.data.size());
    std::memcpy(bytes.data() + change.offset, change.data.data(), change.data.size());
  }
}

// Some of its sectors, each with an even chance.
inline void tear(const Change& change, std::string& bytes, Rng& rng) {
  if (change.truncate) return;
  for (std::size_t at = 0; at < change.data.size();) {
    const std::size_t sector_end = ((change.offset + at) / kSector + 1) * kSector - change.offset;
    const std::size_t end = std::min(sector_end, change.data.size());
    if (rng.chance(0.5))
      perform({false, change.offset + at, change.data.substr(at, end - at)}, bytes);
    at = end;
  }
}

// What one power cut does to changes that were not synced.
struct Weather {
  double keep = 0.5;
  double tear = 0.5;  // of those that are not kept

  static Weather any(Rng& rng) {
    static constexpr double kKeep[] = {0, 0.1, 0.5, 0.9, 1};
    return {kKeep[rng.below(std::size(kKeep))], rng.chance(0.5) ? 0.5 : 0};
  }
};

struct Inode {
  std::string durable;
  std::string now;
  std::vector<Change> unsynced;

  // SQLite's file locks.
  int readers = 0;
  const sqlite3_file* reserved = nullptr;
  const sqlite3_file* exclusive = nullptr;
  // Its shared memory, and the locks on that.
  std::vector<std::unique_ptr<char[]>> shared_memory;
  int shared_locks[SQLITE_SHM_NLOCK] = {};
  bool exclusive_locks[SQLITE_SHM_NLOCK] = {};

  void sync() {
    for (const Change& change : unsynced) perform(change, durable);
    unsynced.clear();
  }
  void take(Change change) {
    perform(change, now);
    unsynced.push_back(std::move(change));
  }
  void lose_power(const Weather& weather, Rng& rng) {
    for (const Change& change : unsynced) {
      if (rng.chance(weather.keep)) {
        perform(change, durable);
      } else if (rng.chance(weather.tear)) {
        tear(change, durable, rng);
      }
    }
    now = durable;
    unsynced.clear();
    readers = 0;
    reserved = exclusive = nullptr;
    shared_memory.clear();
    std::ranges::fill(shared_locks, 0);
    std::ranges::fill(exclusive_locks, false);
  }
};

using Names = std::map<std::string, std::shared_ptr<Inode>>;

}  // namespace muster::store::testing
