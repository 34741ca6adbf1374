// The store: every object in memory, every change on disk before anyone sees it.
//
// One revision counter for all kinds. Writes are submitted from any thread, gathered by the commit
// thread, checked against the newest state, written and synced as one group, then published: a new
// immutable snapshot, the watch log, and the callbacks, in this order. Acknowledged = durable =
// visible = watchable. Readers take a snapshot and never wait. docs/life-of-a-write.md tells the
// story.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/registry.h"
#include "api/views/meta.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"

namespace muster::store {

using Revision = std::uint64_t;

// One version of one object; immutable.
class Object {
 public:
  Object(std::string bytes, Revision revision) : bytes_(std::move(bytes)), revision_(revision) {}
  Object(std::string_view ns, std::string_view name, std::string bytes, Revision revision);
  // With the metadata that was read from these bytes.
  Object(std::string bytes, Revision revision, std::unique_ptr<const api::Meta> meta)
      : bytes_(std::move(bytes)), revision_(revision), meta_(meta.release()) {}
  ~Object();
  Object(const Object&) = delete;

  const std::string& bytes() const { return bytes_; }  // canonical JSON, resourceVersion included
  Revision revision() const { return revision_; }
  const api::Meta& meta() const;  // decoded when first asked for; any thread

  // The key under which it is stored, known without decoding; empty for an object made from bytes
  // alone.
  std::string_view ns() const { return std::string_view(path_).substr(0, ns_size_); }
  std::string_view name() const {
    return std::string_view(path_).substr(ns_size_ + (path_.empty() ? 0 : 1));
  }
  const std::string& path() const { return path_; }  // "ns/name"

 private:
  std::string bytes_;
  std::string path_;
  Revision revision_;
  std::uint32_t ns_size_ = 0;
  mutable std::atomic<const api::Meta*> meta_{nullptr};
};
using ObjectPtr = std::shared_ptr<const Object>;

struct Key {
  int resource = 0;  // api::Resource::id
  std::string ns;    // empty for cluster-scoped kinds
  std::string name;
};

// One change. The text of the object is given in two parts; the commit thread puts the new
// revision, in decimal digits, between them (…"resourceVersion":"  41  "…). For a deletion it is
// the final state, which watchers see.
struct Write {
  enum class Op : std::uint8_t { kPut, kDelete };
  Op op = Op::kPut;
  Key key;
  // The revision that the object must have now; 0: it must not exist. Otherwise kConflict
  // (kAlreadyExists for 0, kNotFound if it is gone), and nothing is written.
  Revision expected = 0;
  std::string head;
  std::string tail;
};

// Why a list of writes was not done. Nothing of it is there (but see Store::submit on kInternal).
struct ListError {
  Error error;
  // The place in the list of the first write whose precondition does not hold; `error` is about its
  // object. None if the list was refused as a whole.
  std::optional<std::size_t> refused;
};
// The new version of each object, in the order of the list; for a deletion the final state.
using ListResult = std::expected<std::vector<ObjectPtr>, ListError>;

struct Event {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  int resource = 0;  // api::Resource::id
  Revision revision = 0;
  ObjectPtr object;    // for kDeleted the final state, carrying the deletion's revision
  ObjectPtr previous;  // null for kAdded
};

// All objects as of one revision. Immutable; cheap to take and to keep for the length of a request.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Revision revision() const = 0;
  virtual ObjectPtr get(const Key& key) const = 0;  // null if absent
  // In the byte order of "namespace/name" (upstream's order: "a-b/x" before "a/x"), from the first
  // key after
  // (`after_ns`, `after_name`) — pass empty strings for the beginning. `ns` empty: all namespaces.
  // Stops when `visit` returns false.
  struct Range {
    std::string_view ns;
    std::string_view after_ns;
    std::string_view after_name;
  };
  virtual void scan(int resource, const Range& range,
                    const std::function<bool(const ObjectPtr&)>& visit) const = 0;
  virtual std::size_t count(int resource, std::string_view ns) const = 0;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// A reader of the changes of some resources, in the order of their revisions and without gaps.
// poll() from one thread at a time.
class Subscription {
 public:
  virtual ~Subscription() = default;
  // Up to `max` events after the last one returned; empty if there is none yet. kExpired if the
  // history that it needs is gone: list again.
  virtual Result<std::vector<Event>> poll(std::size_t max) = 0;
  // Every event up to this revision has been returned by poll().
  virtual Revision position() const = 0;
};

struct Options {
  // Waiting writes; while there are as many, more are refused with kTooManyRequests. A list is let
  // in as soon as one write would be, or else single writes could keep it out for ever: so the
  // queue exceeds these by one list at most.
  std::size_t max_queue = 16'384;
  std::size_t max_queue_bytes = 256u << 20;
  // Writes per transaction: what one sync may make many wait for. A list that is larger is a
  // transaction of its own.
  std::size_t max_group = 1'024;
  std::size_t max_group_bytes = 16u << 20;
  // Writes of one list, and their text; a larger list is refused with kTooLarge. 4,096 bindings of
  // one gang must fit, each with one more write that belongs to it, and with 16 KiB of text for
  // each pod. A transaction is in memory until it is committed, and all other writes wait
  // meanwhile.
  std::size_t max_list = 8'192;
  std::size_t max_list_bytes = 64u << 20;
  // An event stays in the watch log while it is among the newest so many of its resource, or this
  // young…
  std::size_t history_events = 102'400;
  Duration history_age = std::chrono::minutes(5);
  // …but all logs together hold no more than a quarter of what the living objects take, and this
  // much at least and at most: history must not outgrow the state.
  std::size_t history_least_bytes = 64u << 20;
  std::size_t history_bytes = 256u << 20;
  // Commits on the thread that calls submit(), before it returns, one caller at a time; for
  // simulation and tests. A write submitted from a Done callback waits for that group to end.
  bool commit_inline = false;
};

class Durability;  // durability.h

class Store {
 public:
  // Loads everything. Fails with the reason if the data is damaged or of a newer format.
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Durability> disk,
                                             const api::Registry& registry, const Clock& clock,
                                             Metrics& metrics, Options options = {});
  virtual ~Store() = default;  // stops

  // Finishes what is queued, then takes no more writes: no callback comes afterwards. For those
  // whose callbacks need what must go before the store. Not to be called from a callback.
  virtual void stop() = 0;

  // Does all writes of a list or none, in one transaction. Their revisions follow each other
  // without a gap. No snapshot() and no reader of a watch log is shown a part of the list: all of
  // it becomes visible at once. (snapshot_at() a revision inside the list is the state as of that
  // revision.)
  //
  // The preconditions are checked in order, each as if the writes before it were done already. So
  // an object may be deleted and created again in one list. To change an object twice is a
  // conflict: the second write cannot know the revision that the first one gets.
  //
  // `done` is called once, when the list is durable and visible, or has failed: on the commit
  // thread, or, if the list is empty or too large, the queue is full or the store is stopping, on
  // the caller's before submit() returns. Must not block. Fails with kNotFound, kAlreadyExists,
  // kConflict (texts as upstream has them, ListError::refused says which write); kTooLarge: see
  // Options::max_list; kTooManyRequests; kUnavailable: nothing was written, try again later (disk
  // full); kInternal: a sync failed, so after a restart all of the list is there or nothing.
  using ListDone = std::move_only_function<void(ListResult)>;
  virtual void submit(std::vector<Write> list, ListDone done) = 0;  // any thread
  // A list of one.
  using Done = std::move_only_function<void(Result<ObjectPtr>)>;
  void submit(Write write, Done done);  // any thread

  virtual SnapshotPtr snapshot() const = 0;  // the newest; any thread
  // The state of one resource as of an earlier revision; only this resource may be read from it.
  // kExpired if the history is gone, kTimeout if that revision is not reached yet.
  virtual Result<SnapshotPtr> snapshot_at(int resource, Revision revision) const = 0;

  // Changes of these resources after a revision, which may lie in the future. kExpired if the
  // history of one of them is gone. `wake` is called from the commit thread when there is something
  // new to poll, at most once between two polls; it must only post. It may be called once more
  // while the subscription is being destroyed, so let it own what it touches (a weak pointer). The
  // first poll() needs no wake.
  virtual Result<std::unique_ptr<Subscription>> watch(std::vector<int> resources, Revision after,
                                                      std::function<void()> wake) = 0;
  Result<std::unique_ptr<Subscription>> watch(int resource, Revision after,
                                              std::function<void()> wake) {
    return watch(std::vector<int>{resource}, after, std::move(wake));
  }

  // The smallest revision that watch() and snapshot_at() still accept for this resource.
  virtual Revision oldest(int resource) const = 0;

  // Forgets history up to the newest revision (tests, and clients that ask for it). Blocks until
  // done: not to be called from a Done or wake callback.
  virtual void compact() = 0;
  virtual Status backup(
      const std::string& file) = 0;  // consistent, also while running; any thread, blocks
  // Why writes are refused now (disk full, failed sync); empty when all is well.
  virtual std::string trouble() const = 0;
};

}  // namespace muster::store
