#include "store/checkpointer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/log.h"
#include "base/thread.h"

namespace muster::store {
namespace {

// How long a checkpoint that holds writers back may wait for readers (a backup being taken), who
// would let the writers wait as long. If that is not enough it is tried again later, and the log
// grows until then.
constexpr int kPatienceMs = 100;

// Whether the checkpoint may simply be tried again: the log still has everything. Not so after a
// failed sync or write: what the kernel then holds as written is not known.
bool may_be_repeated(int extended_code) {
  switch (extended_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return true;
    case SQLITE_IOERR:
      return extended_code == SQLITE_IOERR_READ || extended_code == SQLITE_IOERR_SHORT_READ ||
             extended_code == SQLITE_IOERR_NOMEM || extended_code == SQLITE_IOERR_FSTAT ||
             extended_code == SQLITE_IOERR_LOCK || extended_code == SQLITE_IOERR_SHMLOCK;
    default:
      return false;
  }
}

}  // namespace

Result<std::unique_ptr<Checkpointer>> Checkpointer::start(const std::string& database_file,
                                                          const SqliteOptions& options) {
  MUSTER_TRY(auto connection, sqlite::Database::open(
                                  database_file, sqlite::Database::Mode::kReadWrite, options.vfs));
  connection.set_patience(kPatienceMs);
  MUSTER_CHECK(connection.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256"));
  std::unique_ptr<Checkpointer> made(new Checkpointer(std::move(connection), options));
  if (options.checkpoint_thread) {
    MUSTER_TRY(made->thread_, start_thread([self = made.get()] { self->run(); }));
  }
  return made;
}

Checkpointer::Checkpointer(sqlite::Database connection, const SqliteOptions& options)
    : options_(options), connection_(std::move(connection)), next_at_(options.checkpoint_bytes) {
  connection_.keep_log_on_close();
}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::log_is(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (bytes < bytes_) next_at_ = options_.checkpoint_bytes;  // it has started again
  bytes_ = bytes;
  if (!due(bytes)) return;
  if (!options_.checkpoint_thread) {
    lock.unlock();
    return checkpoint(bytes);
  }
  changed_.notify_all();
  // One checkpoint is enough to wait for: if a backup is in its way, the next one will not do
  // better.
  const std::uint64_t before = finished_;
  if (bytes >= 2 * options_.max_log_bytes) changed_.wait(lock, [&] { return finished_ != before; });
}

bool Checkpointer::due(std::uint64_t bytes) const { return bytes >= next_at_ && fault_.empty(); }

void Checkpointer::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || due(bytes_); });
    if (stopping_) return;
    const std::uint64_t bytes = bytes_;
    lock.unlock();
    checkpoint(bytes);
    lock.lock();
  }
}

void Checkpointer::checkpoint(std::uint64_t bytes) {
  int code = sqlite3_wal_checkpoint_v2(connection_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE,
                                       nullptr, nullptr);
  if (code == SQLITE_OK && bytes >= options_.max_log_bytes) {
    code = sqlite3_wal_checkpoint_v2(connection_.handle(), "main", SQLITE_CHECKPOINT_RESTART,
                                     nullptr, nullptr);
  }
  const std::lock_guard lock(mutex_);
  ++finished_;
  changed_.notify_all();
  next_at_ = bytes + options_.checkpoint_bytes;
  if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY) return;
  const std::string why =
      fmt::format("checkpoint: {}", sqlite::last_error(connection_.handle()).message);
  if (may_be_repeated(code)) {
    log::warn("a checkpoint has failed and will be tried again", {{"error", why}});
  } else {
    fault_ = why;
  }
}

std::string Checkpointer::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace muster::store
