#include "store/testing/faulty_vfs.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "base/result.h"
#include "store/testing/memory_file.h"

namespace muster::store::testing {
namespace {

// An open file; SQLite allocates it and calls its methods.
struct Handle : sqlite3_file {
  FaultyDisk::Impl* disk = nullptr;
  std::shared_ptr<Inode> inode;
  std::string path;
  // The first sync also makes the names durable, as with SQLite's unix VFS.
  bool sync_directory = false;
  bool delete_on_close = false;
  int lock = SQLITE_LOCK_NONE;
  bool shared[SQLITE_SHM_NLOCK] = {};
  bool exclusive[SQLITE_SHM_NLOCK] = {};
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

struct FaultyDisk::Impl {
  mutable std::mutex mutex;
  sqlite3_vfs vfs{};
  std::string name;
  Names names;
  Names durable_names;

  bool power = true;
  std::optional<std::uint64_t> changes_left;
  std::optional<std::uint64_t> calls_left;
  Fault fault = Fault::kError;
  std::optional<std::string> failed;
  std::optional<std::uint64_t> capacity;

  enum class Kind { kLook, kRead, kWrite, kTruncate, kSync, kRemove };
  enum class Fate { kDone, kFailed, kFull, kPowerFails };

  static bool changes_something(Kind kind) { return kind >= Kind::kWrite; }
  static bool needs_space(Kind kind) { return kind == Kind::kWrite; }

  // Decides what becomes of a call. The caller holds the mutex.
  Fate decide(Kind kind, const std::string& path) {
    static constexpr const char* kNames[] = {"look at",  "read", "write",
                                             "truncate", "sync", "remove"};
    if (!power) return Fate::kFailed;
    if (changes_something(kind) && changes_left && (*changes_left)-- <= 1) {
      power = false;
      changes_left.reset();
      return Fate::kPowerFails;
    }
    if (calls_left && (fault == Fault::kError || needs_space(kind)) && (*calls_left)-- <= 1) {
      calls_left.reset();
      failed = fmt::format("{} {}", kNames[static_cast<int>(kind)], base_name(path));
      return fault == Fault::kDiskFull ? Fate::kFull : Fate::kFailed;
    }
    if (needs_space(kind) && capacity && used() > *capacity) return Fate::kFull;
    return Fate::kDone;
  }

  std::uint64_t used() const {
    std::uint64_t sum = 0;
    for (const auto& [path, inode] : names) sum += inode->now.size();
    return sum;
  }
};

namespace {

using Impl = FaultyDisk::Impl;
using Fate = Impl::Fate;
using Kind = Impl::Kind;

Handle& handle_of(sqlite3_file* file) { return *static_cast<Handle*>(file); }

int on_close(sqlite3_file* file) {
  Handle& handle = handle_of(file);
  {
    const std::lock_guard lock(handle.disk->mutex);
    if (handle.delete_on_close) handle.disk->names.erase(handle.path);
  }
  handle.~Handle();
  return SQLITE_OK;
}

int on_read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  if (handle.disk->decide(Kind::kRead, handle.path) != Fate::kDone) return SQLITE_IOERR_READ;
  const std::string& bytes = handle.inode->now;
  const auto wanted = static_cast<std::size_t>(amount);
  const std::size_t from = std::min(static_cast<std::size_t>(offset), bytes.size());
  const std::size_t got = std::min(wanted, bytes.size() - from);
  std::memcpy(into, bytes.data() + from, got);
  std::memset(static_cast<char*>(into) + got, 0, wanted - got);
  return got == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int on_write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  const Fate fate = handle.disk->decide(Kind::kWrite, handle.path);
  const std::string_view data(static_cast<const char*>(from), static_cast<std::size_t>(amount));
  const auto place = static_cast<std::size_t>(offset);
  if (fate == Fate::kDone || fate == Fate::kPowerFails) {
    handle.inode->take({false, place, std::string(data)});
  } else if (handle.disk->power) {
    const std::size_t whole_sectors = (place + data.size() / 2) / kSector * kSector;
    if (whole_sectors > place)
      handle.inode->take({false, place, std::string(data.substr(0, whole_sectors - place))});
  }
  if (fate == Fate::kFull) return SQLITE_FULL;
  return fate == Fate::kDone ? SQLITE_OK : SQLITE_IOERR_WRITE;
}

int on_truncate(sqlite3_file* file, sqlite3_int64 size) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  const Fate fate = handle.disk->decide(Kind::kTruncate, handle.path);
  if (fate == Fate::kFailed) return SQLITE_IOERR_TRUNCATE;
  handle.inode->take({true, static_cast<std::size_t>(size), {}});
  return fate == Fate::kDone ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int on_sync(sqlite3_file* file, int) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  if (handle.disk->decide(Kind::kSync, handle.path) != Fate::kDone) return SQLITE_IOERR_FSYNC;
  handle.inode->sync();
  if (handle.sync_directory) {
    handle.disk->durable_names = handle.disk->names;
    handle.sync_directory = false;
  }
  return SQLITE_OK;
}

int on_file_size(sqlite3_file* file, sqlite3_int64* size) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  if (handle.disk->decide(Kind::kLook, handle.path) != Fate::kDone) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(handle.inode->now.size());
  return SQLITE_OK;
}

int on_lock(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  Inode& inode = *handle.inode;
  if (level <= handle.lock) return SQLITE_OK;
  if (inode.exclusive != nullptr && inode.exclusive != &handle) return SQLITE_BUSY;
  if (handle.lock == SQLITE_LOCK_NONE) ++inode.readers;
  handle.lock = std::max(handle.lock, SQLITE_LOCK_SHARED);
  if (level >= SQLITE_LOCK_RESERVED) {
    if (inode.reserved != nullptr && inode.reserved != &handle) return SQLITE_BUSY;
    inode.reserved = &handle;
    handle.lock = SQLITE_LOCK_RESERVED;
  }
  if (level == SQLITE_LOCK_EXCLUSIVE) {
    if (inode.readers > 1) return SQLITE_BUSY;
    inode.exclusive = &handle;
    handle.lock = SQLITE_LOCK_EXCLUSIVE;
  }
  return SQLITE_OK;
}

int on_unlock(sqlite3_file* file, int level) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  Inode& inode = *handle.inode;
  if (level >= handle.lock) return SQLITE_OK;
  if (inode.exclusive == &handle) inode.exclusive = nullptr;
  if (inode.reserved == &handle) inode.reserved = nullptr;
  if (level == SQLITE_LOCK_NONE && inode.readers > 0) --inode.readers;
  handle.lock = level;
  return SQLITE_OK;
}

int on_check_reserved_lock(sqlite3_file* file, int* reserved) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  *reserved = handle.inode->reserved != nullptr;
  return SQLITE_OK;
}

int on_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int on_sector_size(sqlite3_file*) { return 4'096; }
int on_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int on_shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** address) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  if (handle.disk->decide(Kind::kLook, handle.path + "-shm") != Fate::kDone)
    return SQLITE_IOERR_SHMMAP;
  auto& memory = handle.inode->shared_memory;
  const auto index = static_cast<std::size_t>(region);
  *address = nullptr;
  if (index >= memory.size() && extend == 0) return SQLITE_OK;
  while (memory.size() <= index)
    memory.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
  *address = memory[index].get();
  return SQLITE_OK;
}

int on_shm_lock(sqlite3_file* file, int first, int count, int flags) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  Inode& inode = *handle.inode;
  const bool shared = (flags & SQLITE_SHM_SHARED) != 0;
  const bool unlock = (flags & SQLITE_SHM_UNLOCK) != 0;
  for (int i = first; i < first + count && !unlock; ++i) {
    const bool held_by_others = inode.exclusive_locks[i] && !handle.exclusive[i];
    const bool read_by_others = inode.shared_locks[i] > (handle.shared[i] ? 1 : 0);
    if (held_by_others || (!shared && read_by_others)) return SQLITE_BUSY;
  }
  for (int i = first; i < first + count; ++i) {
    if (shared) {
      if (handle.shared[i] == unlock) inode.shared_locks[i] += unlock ? -1 : 1;
      handle.shared[i] = !unlock;
    } else {
      if (!unlock || handle.exclusive[i]) inode.exclusive_locks[i] = !unlock;
      handle.exclusive[i] = !unlock;
    }
  }
  return SQLITE_OK;
}

void on_shm_barrier(sqlite3_file* file) { const std::lock_guard lock(handle_of(file).disk->mutex); }

int on_shm_unmap(sqlite3_file* file, int remove) {
  Handle& handle = handle_of(file);
  const std::lock_guard lock(handle.disk->mutex);
  if (remove != 0) handle.inode->shared_memory.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_file_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_check_reserved_lock,
    .xFileControl = on_control,
    .xSectorSize = on_sector_size,
    .xDeviceCharacteristics = on_characteristics,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

Impl& disk_of(sqlite3_vfs* vfs) { return *static_cast<Impl*>(vfs->pAppData); }

int on_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  Impl& disk = disk_of(vfs);
  file->pMethods = nullptr;
  const std::lock_guard lock(disk.mutex);
  static std::atomic<int> unnamed = 0;
  const std::string path = name != nullptr ? name : fmt::format("unnamed-{}", unnamed++);
  if (disk.decide(Kind::kLook, path) != Fate::kDone) return SQLITE_CANTOPEN;
  const bool may_create = (flags & SQLITE_OPEN_CREATE) != 0;
  if (!may_create && !disk.names.contains(path)) return SQLITE_CANTOPEN;
  auto& inode = disk.names[path];
  if (!inode) inode = std::make_shared<Inode>();
  Handle& handle = *new (file) Handle{};
  handle.pMethods = &kMethods;
  handle.disk = &disk;
  handle.inode = inode;
  handle.path = path;
  handle.sync_directory = may_create && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
  handle.delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

int on_delete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  Impl& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex);
  const Fate fate = disk.decide(Kind::kRemove, name);
  if (fate == Fate::kFailed) return SQLITE_IOERR_DELETE;
  if (disk.names.erase(name) == 0) return SQLITE_IOERR_DELETE_NOENT;
  if (fate == Fate::kPowerFails) return SQLITE_IOERR_DELETE;
  if (sync_directory != 0) disk.durable_names = disk.names;
  return SQLITE_OK;
}

int on_access(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
  Impl& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex);
  if (disk.decide(Kind::kLook, name) != Fate::kDone) return SQLITE_IOERR_ACCESS;
  const auto found = disk.names.find(name);
  *result =
      found != disk.names.end() && (flags != SQLITE_ACCESS_EXISTS || !found->second->now.empty());
  return SQLITE_OK;
}

int on_full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

int on_randomness(sqlite3_vfs*, int size, char* out) {
  std::memset(out, 7, static_cast<std::size_t>(size));
  return size;
}

int on_sleep(sqlite3_vfs*, int microseconds) {
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  return system->xSleep(system, microseconds);
}

int on_current_time(sqlite3_vfs*, double* julian_day) {
  *julian_day = 2'461'000.5;
  return SQLITE_OK;
}

int on_last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

FaultyDisk::FaultyDisk() : impl_(std::make_unique<Impl>()) {
  static std::atomic<int> count = 0;
  impl_->name = fmt::format("faulty-{}", count++);
  impl_->vfs = {.iVersion = 1,
                .szOsFile = sizeof(Handle),
                .mxPathname = 512,
                .zName = impl_->name.c_str(),
                .pAppData = impl_.get(),
                .xOpen = on_open,
                .xDelete = on_delete,
                .xAccess = on_access,
                .xFullPathname = on_full_path,
                .xRandomness = on_randomness,
                .xSleep = on_sleep,
                .xCurrentTime = on_current_time,
                .xGetLastError = on_last_error};
  const int code = sqlite3_vfs_register(&impl_->vfs, /*makeDflt=*/0);
  MUSTER_ASSERT(code == SQLITE_OK, "a virtual file system can be registered");
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&impl_->vfs); }

const std::string& FaultyDisk::vfs() const { return impl_->name; }

void FaultyDisk::cut_power_at_change(std::uint64_t nth) {
  const std::lock_guard lock(impl_->mutex);
  impl_->changes_left = nth;
}

bool FaultyDisk::has_power() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->power;
}

void FaultyDisk::restart(Rng& rng) {
  const std::lock_guard lock(impl_->mutex);
  const Weather weather = Weather::any(rng);
  Names all = impl_->durable_names;
  all.insert(impl_->names.begin(), impl_->names.end());
  Names after;
  for (const auto& [path, unused] : all) {
    // A name whose last change was not synced is as before or as after.
    const Names& source = rng.chance(weather.keep) ? impl_->names : impl_->durable_names;
    if (const auto found = source.find(path); found != source.end()) after.insert(*found);
  }
  for (const auto& [path, inode] : after) inode->lose_power(weather, rng);
  impl_->names = impl_->durable_names = std::move(after);
  impl_->power = true;
  impl_->changes_left.reset();
}

void FaultyDisk::fail_call(std::uint64_t nth, Fault fault) {
  const std::lock_guard lock(impl_->mutex);
  impl_->calls_left = nth;
  impl_->fault = fault;
  impl_->failed.reset();
}

std::optional<std::string> FaultyDisk::failed_call() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->failed;
}

void FaultyDisk::set_capacity(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->capacity = bytes;
}

std::string FaultyDisk::read_file(const std::string& path) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->names.find(path);
  return found == impl_->names.end() ? std::string() : found->second->now;
}

void FaultyDisk::write_file(const std::string& path, const std::string& bytes) {
  const std::lock_guard lock(impl_->mutex);
  auto inode = std::make_shared<Inode>();
  inode->now = inode->durable = bytes;
  impl_->names[path] = impl_->durable_names[path] = std::move(inode);
}

void FaultyDisk::remove_file(const std::string& path) {
  const std::lock_guard lock(impl_->mutex);
  impl_->names.erase(path);
  impl_->durable_names.erase(path);
}

std::vector<std::string> FaultyDisk::files() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<std::string> paths;
  for (const auto& [path, inode] : impl_->names) paths.push_back(path);
  return paths;
}

}  // namespace muster::store::testing
