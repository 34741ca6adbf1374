// Decisions that were made and that the informers do not show yet.
//
// An informer shows an object as it was a moment ago. Between a decision and the moment when its
// effect comes back from the server, the object looks as if nothing had been decided, and another
// decision made from that would give the same room away twice. So every decision is kept here, and
// the next one counts find() on top of what the informers show.
//
// How a decision ends:
//
//   the object shows the effect            it is observed, and forgotten
//   the server refuses it                  its value counts no more; nothing is decided for the
//                                          object until a rest is over, longer each time
//   the answer is lost                     it counts, and is sent again: the same write twice must
//                                          have the effect of one
//   refused after a lost answer            the first one may have been carried out: it counts until
//                                          the object shows it, or until kPatience is over
//   the object changed meanwhile           a decision that holds for one version only is dropped;
//                                          of others the owner knows whether they still stand
//   the object is gone, or is another one  it is forgotten
//   the process starts anew                nothing is in flight. What was sent before is shown by
//                                          the informers, or the server refuses the second write:
//                                          each write must be bound to the object as it was seen
//
// Used on one loop. It knows no clock and sends nothing: decision_runner.h does.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "client/work_queue.h"
#include "controllers/runtime/plan.h"
#include "store/store.h"

namespace muster::controllers {

using client::QueueKey;

// What is known of a write once its request has ended.
enum class Outcome : std::uint8_t {
  kAccepted,
  kRefused,
  kUnknown,  // it may have been carried out, or may be if it is sent again
};

inline Outcome outcome_of(const Error& error) {
  switch (error.code) {
    case Code::kTooManyRequests:
    case Code::kInternal:
    case Code::kUntranslated:
    case Code::kUnavailable:
    case Code::kTimeout:
      return Outcome::kUnknown;
    default:
      return Outcome::kRefused;
  }
}

// `Value`: what was decided about one object.
template <class Value>
class InFlight {
 public:
  // How long to wait for the informer to show what happened: as Runner::kPatience.
  static constexpr Duration kPatience = std::chrono::seconds(30);
  static constexpr Duration kFirstRest = std::chrono::milliseconds(5);

  enum class Phase : std::uint8_t {
    kDecided,   // not sent yet
    kSent,      // not answered yet
    kAccepted,  // not observed yet
    kUnknown,   // the answer was lost: to be sent again
    kDoubtful,  // refused after a lost answer
    kRefused,   // rests
  };
  struct Entry {
    DecisionId id = 0;
    std::string uid;
    Value value;
    store::Revision only_at =
        0;  // the write succeeds at this version of the object only; 0: at any
    Phase phase = Phase::kDecided;
    store::Revision accepted_at = 0;  // the version that it made; 0: not known
    bool lost = false;                // an answer was lost
    std::optional<Duration> until =
        {};  // of a rest, or of patience; monotonic time, like every `now` here
  };
  // A version of the object, as an informer shows it.
  struct Seen {
    std::string uid;
    store::Revision revision = 0;
    bool shows_effect = false;
  };

  explicit InFlight(Duration longest_rest) : longest_rest_(longest_rest) {}

  // Takes the place of an earlier decision about the object.
  DecisionId decide(const QueueKey& key, std::string uid, Value value,
                    store::Revision only_at = 0) {
    entries_.insert_or_assign(key, Entry{.id = ++last_id_,
                                         .uid = std::move(uid),
                                         .value = std::move(value),
                                         .only_at = only_at});
    return last_id_;
  }

  void sent(const QueueKey& key, DecisionId id) {
    if (Entry* const entry = at(key, id)) entry->phase = Phase::kSent;
  }

  // `revision`: of the object in the answer; 0 if the answer was none. An answer to a decision that
  // is no longer kept is ignored. Afterwards the entry's `until` says when to call expire().
  void answered(const QueueKey& key, DecisionId id, Outcome outcome, store::Revision revision,
                Duration now) {
    Entry* const entry = at(key, id);
    if (entry == nullptr || entry->phase != Phase::kSent) return;
    switch (outcome) {
      case Outcome::kAccepted:
        entry->phase = Phase::kAccepted;
        entry->accepted_at = revision;
        break;
      case Outcome::kUnknown:
        entry->phase = Phase::kUnknown;
        entry->lost = true;
        break;
      case Outcome::kRefused:
        entry->phase = entry->lost ? Phase::kDoubtful : Phase::kRefused;
        entry->until = now + (entry->lost ? kPatience : next_rest(key));
        break;
    }
  }

  // Whether the decision has ended because of what is seen.
  bool observed(const QueueKey& key, const Seen& seen) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !ends(found->second, seen)) return false;
    if (seen.shows_effect || seen.uid != found->second.uid) refusals_.erase(key);
    entries_.erase(found);
    return true;
  }

  // The object is gone, or the decision does not stand any more.
  void forget(const QueueKey& key) {
    entries_.erase(key);
    refusals_.erase(key);
  }

  // Whether the rest or the patience of a decision was over, so that it is forgotten.
  bool expire(const QueueKey& key, Duration now) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.until || *found->second.until > now) return false;
    entries_.erase(found);
    return true;
  }

  // What counts on top of the state; null: what the informers show is all.
  const Value* find(const QueueKey& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.phase == Phase::kRefused) return nullptr;
    return &found->second.value;
  }
  // Nothing new is to be decided about the object now.
  bool contains(const QueueKey& key) const { return entries_.contains(key); }
  // The decision, if it is to be sent; null otherwise.
  const Entry* due(const QueueKey& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    const Phase phase = found->second.phase;
    return phase == Phase::kDecided || phase == Phase::kUnknown ? &found->second : nullptr;
  }
  const std::map<QueueKey, Entry>& all() const { return entries_; }

 private:
  Entry* at(const QueueKey& key, DecisionId id) {
    const auto found = entries_.find(key);
    return found == entries_.end() || found->second.id != id ? nullptr : &found->second;
  }

  static bool ends(const Entry& entry, const Seen& seen) {
    if (seen.uid != entry.uid || seen.shows_effect) return true;
    if (entry.phase == Phase::kRefused) return false;  // its rest goes on
    // It was carried out, and somebody has undone it since.
    if (entry.phase == Phase::kAccepted)
      return entry.accepted_at != 0 && seen.revision >= entry.accepted_at;
    return entry.only_at != 0 && seen.revision > entry.only_at;  // it cannot succeed any more
  }

  Duration next_rest(const QueueKey& key) {
    constexpr int kMaxDoublings = 18;
    const int before = std::min(refusals_[key]++, kMaxDoublings);
    return std::min(longest_rest_, kFirstRest * (std::int64_t{1} << before));
  }

  Duration longest_rest_;
  DecisionId last_id_ = 0;
  std::map<QueueKey, Entry> entries_;
  std::map<QueueKey, int> refusals_;  // in a row, of objects that exist
};

}  // namespace muster::controllers
