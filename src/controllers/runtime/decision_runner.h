// Carries out decisions that are made from one state about many objects: pods and their nodes,
// workloads and their quota. (A controller whose plan for one object needs only what belongs to
// that object uses a Runner.)
//
//   informers, in-flight decisions ─▶ wake ─▶ decide(in flight, now)     one turn, pure
//        ▲                                          │ Decisions
//        │                                          ▼
//        │                              in flight: counts from now on
//        │                                          │ key
//        └── observed ◀── server ◀── Runner ◀── plan(key): its writes    pure
//
// decide() sees the state with everything on top of it that is in flight. It works for some
// milliseconds at most and says if there is more to do; changes that arrive until its next turn are
// part of that. The writes of a decision are made just before they go out, in the fair order of the
// Runner's queue, and their outcome ends the decision as in_flight.h says. The owner feeds in what
// its informers show (observed, forget), and is told when something else changes what is in flight.
//
// Used on one loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/views/meta.h"
#include "controllers/runtime/in_flight.h"
#include "controllers/runtime/runner.h"
#include "controllers/runtime/turns.h"

namespace muster::controllers {

// What one turn decided. Each object appears once.
template <class Value>
struct Decisions {
  struct Made {
    QueueKey object;
    std::string uid;
    Value value;
    store::Revision only_at = 0;  // InFlight::Entry::only_at
    // The key under which it is carried out, if that is not the object's own: the decisions of one
    // gang share a key, and so a plan.
    std::optional<QueueKey> carried_by = {};
  };
  std::vector<Made> made;
  std::vector<QueueKey> also;  // keys that have something else to write
  bool more = false;           // there is more to decide: in another turn
};

template <class Value>
class DecisionRunner {
 public:
  using Seen = InFlight<Value>::Seen;

  struct Options {
    // Of the state and what is in flight; changes neither.
    std::function<Decisions<Value>(const InFlight<Value>& in_flight, Duration now)> decide;
    // What is in flight about this object has changed: decided, refused or expired. Not called for
    // observed() and forget(), which the owner calls itself.
    std::function<void(const QueueKey& object)> changed;
    // `plan` makes the writes for a key from InFlight::due(); each of them names its decision.
    Runner::Options writes;
  };

  DecisionRunner(client::Client& client, Options options)
      : loop_(client.loop()),
        decide_(std::move(options.decide)),
        changed_(std::move(options.changed)),
        in_flight_(options.writes.longest_backoff),
        turns_(loop_, options.writes.sources, [this] { return take_turn(); }),
        runner_(client, with_outcomes(std::move(options.writes))) {}
  ~DecisionRunner() { *alive_ = false; }
  DecisionRunner(const DecisionRunner&) = delete;

  // The state has changed so that other decisions are possible.
  void wake() { turns_.wake(); }
  // There is something to write for this key, or it may be tried again at once.
  void add(const QueueKey& key) { runner_.add(key); }

  // Whether a decision about the object has ended because of what the informer shows.
  bool observed(const QueueKey& object, const Seen& seen) {
    return in_flight_.observed(object, seen);
  }
  // The object is gone, or what was decided about it does not stand any more.
  void forget(const QueueKey& object) { in_flight_.forget(object); }

  const InFlight<Value>& in_flight() const { return in_flight_; }
  bool idle() const { return turns_.idle() && runner_.idle(); }

 private:
  Duration now() const { return loop_.monotonic(); }

  bool take_turn() {
    Decisions<Value> decisions = decide_(in_flight_, now());
    for (auto& made : decisions.made) {
      in_flight_.decide(made.object, std::move(made.uid), std::move(made.value), made.only_at);
      changed_(made.object);
      runner_.add(made.carried_by.value_or(made.object));
    }
    for (const QueueKey& key : decisions.also) runner_.add(key);
    return decisions.more;
  }

  Runner::Options with_outcomes(Runner::Options writes) {
    writes.sent = [this](const Write& write) {
      if (write.decision != 0) in_flight_.sent(object_of(write), write.decision);
    };
    writes.answered = [this](const Write& write, Result<client::Written>& answer) {
      if (write.decision != 0) answered(write, answer);
    };
    return writes;
  }

  static QueueKey object_of(const Write& write) {
    return {write.operation.ns, write.operation.name};
  }

  void answered(const Write& write, Result<client::Written>& answer) {
    const QueueKey object = object_of(write);
    const auto revision =
        answer ? client::to_revision(answer->meta().resource_version) : store::Revision{0};
    const Outcome outcome = answer ? Outcome::kAccepted : outcome_of(answer.error());
    in_flight_.answered(object, write.decision, outcome, revision, now());
    const auto entry = in_flight_.all().find(object);
    if (entry == in_flight_.all().end() || !entry->second.until) return;
    if (entry->second.id != write.decision) return;
    loop_.after(*entry->second.until - now(), [this, object, alive = alive_] {
      if (!*alive || !in_flight_.expire(object, now())) return;
      changed_(object);
    });
    changed_(object);
  }

  Loop& loop_;
  std::function<Decisions<Value>(const InFlight<Value>&, Duration)> decide_;
  std::function<void(const QueueKey&)> changed_;
  InFlight<Value> in_flight_;
  Turns turns_;
  Runner runner_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::controllers
