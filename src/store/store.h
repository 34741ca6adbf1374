// The store: every object in memory, every change on disk before anyone sees it.
//
// One revision counter for all kinds. Writes are submitted from any thread, gathered by the commit thread,
// checked against the newest state, written and synced as one group, then published: a new immutable
// snapshot, the watch log, and the callbacks, in this order. Acknowledged = durable = visible = watchable.
// Readers take a snapshot and never wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/registry.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/clock.h"

namespace muster::store {

using Revision = std::uint64_t;

// One version of one object; immutable.
class Object {
 public:
  Object(std::string bytes, Revision revision) : bytes_(std::move(bytes)), revision_(revision) {}
  ~Object();
  Object(const Object&) = delete;

  const std::string& bytes() const { return bytes_; }  // canonical JSON, resourceVersion included
  Revision revision() const { return revision_; }
  const api::Meta& meta() const;                        // decoded when first asked for; any thread

 private:
  std::string bytes_;
  Revision revision_;
  mutable std::atomic<const api::Meta*> meta_{nullptr};
};
using ObjectPtr = std::shared_ptr<const Object>;

struct Key {
  int resource = 0;  // api::Resource::id
  std::string ns;    // empty for cluster-scoped kinds
  std::string name;
};

// One change. The text of the object is given in two parts; the commit thread puts the new revision, in
// decimal digits, between them (…"resourceVersion":"  41  "…). For a deletion it is the final state, which
// watchers see.
struct Write {
  enum class Op : std::uint8_t { kPut, kDelete };
  Op op = Op::kPut;
  Key key;
  // The revision that the object must have now; 0: it must not exist. Otherwise kConflict (kAlreadyExists for
  // 0, kNotFound if it is gone), and nothing is written.
  Revision expected = 0;
  std::string head;
  std::string tail;
};

struct Event {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
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
  // In the order of (namespace, name), from the first key after (`after_ns`, `after_name`) — pass empty
  // strings for the beginning. `ns` empty: all namespaces. Stops when `visit` returns false.
  struct Range {
    std::string_view ns;
    std::string_view after_ns;
    std::string_view after_name;
  };
  virtual void scan(int resource, const Range& range, const std::function<bool(const ObjectPtr&)>& visit) const = 0;
  virtual std::size_t count(int resource, std::string_view ns) const = 0;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// A reader of one resource's changes, in order and without gaps. poll() from one thread at a time.
class Subscription {
 public:
  virtual ~Subscription() = default;
  // Up to `max` events after the last one returned; empty if there is none yet. kExpired if the history that
  // it needs is gone: list again.
  virtual Result<std::vector<Event>> poll(std::size_t max) = 0;
  // Every event up to this revision has been returned by poll().
  virtual Revision position() const = 0;
};

struct Options {
  std::size_t max_queue = 16'384;              // waiting writes; more are refused with kTooManyRequests
  std::size_t max_group = 1'024;               // writes per transaction
  std::size_t history_events = 102'400;        // per resource, at least; and…
  Duration history_age = std::chrono::minutes(5);
  std::size_t history_bytes = 256u << 20;      // …but superseded versions in all hold no more than this
};

class Durability;  // durability.h

class Store {
 public:
  // Loads everything. Fails with the reason if the data is damaged or of a newer format.
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Durability> disk, const api::Registry& registry,
                                             const Clock& clock, Metrics& metrics, Options options = {});
  virtual ~Store() = default;  // finishes what is queued, then stops

  // Called on the commit thread, once, when the write is durable and visible, or has failed. Must not block.
  using Done = std::move_only_function<void(Result<ObjectPtr>)>;
  virtual void submit(Write write, Done done) = 0;  // any thread

  virtual SnapshotPtr snapshot() const = 0;          // the newest; any thread
  // The state of one resource as of an earlier revision. kExpired if the history is gone.
  virtual Result<SnapshotPtr> snapshot_at(int resource, Revision revision) const = 0;

  // Changes of a resource after a revision. `wake` is called from the commit thread when there is something
  // new to poll; it must only post. kExpired if the history is gone.
  virtual Result<std::unique_ptr<Subscription>> watch(int resource, Revision after, std::function<void()> wake) = 0;

  // Forgets history up to the newest revision (tests, and clients that ask for it).
  virtual void compact() = 0;
  virtual Status backup(const std::string& file) = 0;  // consistent, also while running; any thread, blocks
  // Why writes are refused now (disk full, failed sync); empty when all is well.
  virtual std::string trouble() const = 0;
};

}  // namespace muster::store
