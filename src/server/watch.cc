// watch (spec: apimachinery 4.3). A stream of the changes of a collection, perhaps opened by its
// present state.
#include <algorithm>
#include <atomic>

#include "server/errors.h"
#include "server/fresh.h"
#include "server/handlers.h"
#include "server/options.h"
#include "store/selection.h"

namespace muster::server {
namespace {

// More than this is not handed to a connection ahead of its client, and more than kFreeUnsentBytes,
// with the event that is next, only if there is room for it among the unsent bytes of all clients
// (Core::unsent). A watcher that reads
// slowly falls behind in the store's history, at no cost in memory; it is cut when it reads nothing
// at all for kMaxStall, or when the history that it still needs is gone.
constexpr std::size_t kMaxUnsentBytes = 4u << 20;
constexpr std::size_t kFreeUnsentBytes = 128u << 10;
// Events are made into text for about so many bytes at a time.
constexpr std::size_t kBatchBytes = 64u << 10;
constexpr Duration kStallPoll = std::chrono::milliseconds(20);
constexpr Duration kMaxStall = std::chrono::seconds(60);
constexpr std::size_t kPollEvents = 256;

constexpr Duration kBookmarkEvery = std::chrono::seconds(60);
constexpr Duration kLastBookmarkBefore = std::chrono::seconds(2);
// Without timeoutSeconds a watch lasts this long, and up to as long again, so that not all of them
// end together.
constexpr std::int64_t kMinTimeoutSeconds = 1'800;

constexpr Duration kNever = Duration::max();

class WatchStream : public std::enable_shared_from_this<WatchStream> {
 public:
  WatchStream(CallPtr call, ListOptions options, store::Selection selection, Renderer renderer)
      : call_(std::move(call)),
        options_(std::move(options)),
        selection_(std::move(selection)),
        renderer_(std::move(renderer)) {}

  void start(store::Revision from, bool initial_events);

 private:
  void take_initial(const store::Snapshot& snapshot);
  void fail(const Error& error);

  void pump();
  bool fetch();
  void send_initial();
  void send_changes();
  void send_change(const store::Event& event);
  void send(std::string_view type, const store::ObjectPtr& object);
  void send_bookmark(bool ends_initial_events);
  void flush();
  bool full();
  std::size_t next_bytes() const;
  bool has_room(std::size_t unsent);
  void release();

  void arm();
  void charge(Duration elapsed);
  void tick();
  void close();

  http::Exchange& exchange() { return *call_->exchange; }

  const CallPtr call_;
  const ListOptions options_;
  const store::Selection selection_;
  const Renderer renderer_;

  std::unique_ptr<store::Subscription> changes_;
  std::atomic<bool> woken_ = false;
  store::Revision ignored_up_to_ = 0;  // a watch may ask for a version that is still to come

  std::vector<store::ObjectPtr> initial_;  // the state to open with, as of initial_revision_
  store::Revision initial_revision_ = 0;
  std::size_t initial_sent_ = 0;
  bool initial_pending_ = false;

  std::vector<store::Event> polled_;  // taken from changes_, sent up to next_polled_
  std::size_t next_polled_ = 0;

  std::vector<http::Chunk> batch_;  // goes out as one piece
  std::size_t batch_bytes_ = 0;
  BytePool::Id held_ = 0;  // in Core::unsent; 0: what is unsent is not counted
  bool first_ = true;      // nothing has been sent yet: Table columns are due
  bool closed_ = false;

  // Time is counted by the timers that were set, so that a jump of the clock neither ends nor
  // prolongs a watch.
  Duration until_end_{};
  Duration until_bookmark_ = kNever;
  Duration stalled_for_{};
  std::size_t unsent_at_stall_ = 0;
  bool stalled_ = false;
  Time armed_at_{};
  Duration armed_for_{};
};

void WatchStream::start(store::Revision from, bool initial_events) {
  call_->uncount();
  const store::SnapshotPtr snapshot = call_->core->store.snapshot();
  const bool from_now = initial_events || from == 0;
  const store::Revision after =
      from_now ? snapshot->revision() : std::min(from, snapshot->revision());
  if (!from_now) ignored_up_to_ = from;
  if (initial_events) take_initial(*snapshot);

  call_->start_stream("application/json");
  exchange().on_close([self = shared_from_this()] { self->close(); });
  Result<std::unique_ptr<store::Subscription>> changes =
      call_->core->store.watch(call_->resource->id, after, [weak = weak_from_this()] {
        const std::shared_ptr<WatchStream> self = weak.lock();
        if (self == nullptr || self->woken_.exchange(true)) return;
        self->exchange().post([self] { self->pump(); });
      });
  if (!changes) return fail(changes.error());  // names the oldest version that is remembered
  changes_ = *std::move(changes);

  const std::int64_t seconds =
      options_.timeout_seconds.value_or(0) > 0
          ? *options_.timeout_seconds
          : kMinTimeoutSeconds + static_cast<std::int64_t>(call_->core->random_below(
                                     static_cast<std::uint64_t>(kMinTimeoutSeconds)));
  until_end_ = std::chrono::seconds(std::min<std::int64_t>(seconds, 1'000'000'000));
  if (options_.bookmarks) until_bookmark_ = kBookmarkEvery;
  arm();
  exchange().post([self = shared_from_this()] { self->pump(); });
}

void WatchStream::take_initial(const store::Snapshot& snapshot) {
  snapshot.scan(call_->resource->id, {selection_.ns(), "", ""},
                [&](const store::ObjectPtr& object) {
                  if (selection_.selects_all() || selection_.matches(*object))
                    initial_.push_back(object);
                  return true;
                });
  initial_revision_ = snapshot.revision();
  initial_pending_ = true;
}

// Sends what there is, as far as the connection takes it.
void WatchStream::pump() {
  woken_ = false;
  if (closed_ || !changes_) return;
  const bool was_held = held_ != 0;
  while (fetch() && !full()) initial_pending_ ? send_initial() : send_changes();
  if (held_ == 0 || stalled_) return;
  if (exchange().unsent_bytes() <= kFreeUnsentBytes) return release();
  if (!was_held) arm();  // to release it when it has been taken
}

// Whether there is something to send. Asks the store for changes when the last ones are sent.
bool WatchStream::fetch() {
  if (initial_pending_ || next_polled_ < polled_.size()) return true;
  Result<std::vector<store::Event>> events = changes_->poll(kPollEvents);
  if (!events) {
    fail(events.error());
    return false;
  }
  polled_ = *std::move(events);
  next_polled_ = 0;
  return !polled_.empty();
}

void WatchStream::send_initial() {
  while (initial_sent_ < initial_.size() && batch_bytes_ < kBatchBytes)
    send("ADDED", initial_[initial_sent_++]);
  if (initial_sent_ == initial_.size()) {
    initial_pending_ = false;
    initial_ = {};
    if (options_.bookmarks) send_bookmark(true);
  }
  flush();
}

void WatchStream::send_changes() {
  while (next_polled_ < polled_.size() && batch_bytes_ < kBatchBytes)
    send_change(polled_[next_polled_++]);
  flush();
}

// With a selector an object appears when it begins to match and disappears when it ceases to.
void WatchStream::send_change(const store::Event& event) {
  if (event.revision <= ignored_up_to_) return;
  const bool deleted = event.type == store::Event::Type::kDeleted;
  const bool now = !deleted && selection_.matches(*event.object);
  const bool before = event.previous != nullptr && selection_.matches(*event.previous);
  if (now) return send(before ? "MODIFIED" : "ADDED", event.object);
  if (!before) return;
  send("DELETED",
       deleted ? event.object : with_revision(*event.previous, *call_->resource, event.revision));
}

void WatchStream::send(std::string_view type, const store::ObjectPtr& object) {
  for (http::Chunk& chunk : renderer_.event(type, object, std::exchange(first_, false))) {
    batch_bytes_ += chunk.text.size();
    batch_.push_back(std::move(chunk));
  }
}

void WatchStream::flush() {
  if (!batch_.empty()) exchange().send(std::exchange(batch_, {}));
  batch_bytes_ = 0;
}

void WatchStream::send_bookmark(bool ends_initial_events) {
  const store::Revision revision =
      ends_initial_events ? initial_revision_ : std::max(changes_->position(), ignored_up_to_);
  send("BOOKMARK", renderer_.bookmark(revision, ends_initial_events));
}

void WatchStream::fail(const Error& error) {
  std::string text = status_body(error);
  text.pop_back();  // its end of line
  std::vector<http::Chunk> event;
  event.push_back(http::Chunk::own(fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", text)));
  exchange().send(std::move(event));
  exchange().finish();
  close();
}

// About as much as the next event adds, at least.
std::size_t WatchStream::next_bytes() const {
  if (!initial_pending_) return polled_[next_polled_].object->bytes().size();
  return initial_sent_ < initial_.size() ? initial_[initial_sent_]->bytes().size() : 0;
}

// Whether the next event may be added to what the client has not taken. One that has taken all does
// not wait for those that take nothing.
bool WatchStream::has_room(std::size_t unsent) {
  const std::size_t wanted = unsent + next_bytes();
  if (wanted <= kFreeUnsentBytes) {
    release();
    return true;
  }
  BytePool& pool = call_->core->unsent;
  const Time now = call_->core->clock.now();
  if (held_ == 0) {
    held_ = pool.enter({.address = {}, .identity = call_->user.name}, now,
                       [to = call_->exchange](BytePool::Id) { to->abort(); });
  }
  return unsent == 0 ? pool.resize(held_, wanted, now) : pool.resize_if_free(held_, wanted);
}

void WatchStream::release() {
  if (held_ != 0) call_->core->unsent.leave(std::exchange(held_, 0));
}

// True if the client has not taken what was sent; then the timer looks again.
bool WatchStream::full() {
  const std::size_t unsent = exchange().unsent_bytes();
  const bool was_stalled = std::exchange(stalled_, unsent > kMaxUnsentBytes || !has_room(unsent));
  if (!stalled_) return false;
  if (!was_stalled || unsent < unsent_at_stall_) stalled_for_ = {};
  unsent_at_stall_ = unsent;
  if (!was_stalled) arm();
  return true;
}

void WatchStream::charge(Duration elapsed) {
  until_end_ -= elapsed;
  if (until_bookmark_ != kNever) until_bookmark_ -= elapsed;
  if (stalled_) stalled_for_ += elapsed;
  armed_for_ = {};
}

void WatchStream::arm() {
  charge(std::clamp<Duration>(call_->core->clock.now() - armed_at_, Duration::zero(), armed_for_));
  armed_at_ = call_->core->clock.now();
  armed_for_ = std::max(Duration::zero(), std::min({until_end_, until_bookmark_,
                                                    stalled_ || held_ != 0 ? kStallPoll : kNever}));
  // The one before the end: clients resume from it.
  if (options_.bookmarks && until_end_ > kLastBookmarkBefore) {
    armed_for_ = std::min(armed_for_, until_end_ - kLastBookmarkBefore);
  }
  exchange().set_timer(armed_for_, [self = shared_from_this()] { self->tick(); });
}

void WatchStream::tick() {
  if (closed_) return;
  const bool last_bookmark_was_due = until_end_ <= kLastBookmarkBefore;
  charge(armed_for_);
  if (until_end_ <= Duration::zero()) {
    exchange().finish();
    return close();
  }
  if (stalled_ && stalled_for_ > kMaxStall) {
    exchange().abort();
    return close();
  }
  pump();
  if (closed_) return;
  const bool periodic = until_bookmark_ <= Duration::zero();
  const bool last =
      options_.bookmarks && !last_bookmark_was_due && until_end_ <= kLastBookmarkBefore;
  if ((periodic || last) && !stalled_ && !initial_pending_) {
    send_bookmark(false);
    flush();
  }
  if (periodic) until_bookmark_ = kBookmarkEvery;
  arm();
}

void WatchStream::close() {
  closed_ = true;
  changes_.reset();
  initial_ = {};
  polled_ = {};
  release();
}

struct WatchStart {
  store::Revision from = 0;
  bool initial_events = false;
};

// Watches without a version open with the present state, unless they say otherwise.
Result<WatchStart> plan_start(const ListOptions& options) {
  WatchStart start;
  if (!options.resource_version.empty()) {
    const Result<std::uint64_t> version = parse_version(options.resource_version);
    if (!version)
      return std::unexpected(invalid_version(options.resource_version, version.error()));
    start.from = *version;
  }
  start.initial_events = options.send_initial_events.value_or(start.from == 0);
  return start;
}

}  // namespace

void watch_objects(const CallPtr& call) {
  Result<ListOptions> options = parse_list_options(call->info.query, true);
  if (!options) return call->answer_error(options.error());
  Result<store::Selection> selection =
      store::Selection::parse(*call->resource, call->ns(), call->info.name, options->label_selector,
                              options->field_selector);
  if (!selection) return call->answer_error(selection.error());
  const Result<WatchStart> start = plan_start(*options);
  if (!start) return call->answer_error(start.error());
  Result<Renderer> renderer = make_renderer(*call);
  if (!renderer) return call->answer_error(renderer.error());
  const auto stream = std::make_shared<WatchStream>(call, *std::move(options),
                                                    *std::move(selection), *std::move(renderer));
  const store::Revision at_least = start->initial_events ? start->from : 0;
  when_reached(call, at_least, [stream, from = start->from, initial = start->initial_events] {
    stream->start(from, initial);
  });
}

}  // namespace muster::server
