#include "controllers/jobset/barriers.h"

#include <algorithm>

#include "controllers/jobset/names.h"

namespace muster::controllers::jobset {
namespace {

using std::chrono::seconds;

// How old the count may be that a pod names when it gives up: a tenth of its patience. Every node
// that runs such pods hears of each change.
Duration count_interval(const api::JobSet& set) {
  constexpr Duration kShortest = std::chrono::milliseconds(100), kLongest = seconds(60);
  const auto& barrier = set.group_scheduling;
  if (!barrier || !barrier->timeout_after_seconds) return kShortest;
  return std::clamp<Duration>(seconds(*barrier->timeout_after_seconds) / 10, kShortest, kLongest);
}

}  // namespace

Barriers::Barriers(Shared& shared, Uses uses, Gates gates)
    : uses_(std::move(uses)),
      gates_(gates),
      signals_(shared.informers.labelled("", "v1", "configmaps", label::kJobSetName),
               reader(read_signal)),
      pods_(shared.informers.changes_of("", "v1", "pods"),
            [this](const QueueKey& set, bool complete) { pods_changed(set, complete); }),
      runner_(
          shared.client,
          {.name = "barrier",
           .sources = {&uses_.job_sets.informer(), &uses_.jobs.informer(), &signals_.informer()},
           .plan = [this](const QueueKey& key, const Pass&) { return plan_for(key); },
           .events = &uses_.events,
           .log = &shared.decisions}) {
  signals_.informer().on_change([this](const auto& before, const auto& after) {
    const api::Meta& meta = (after ? after : before)->meta();
    const api::OwnerReference* const owner = meta.controller();
    if (owner == nullptr || owner->kind != kKind) return;
    runner_.add({meta.ns, owner->name});
    uses_.changed({meta.ns, owner->name}, true);
  });
}

const Signal* Barriers::signal_of(const api::JobSet& set) const {
  const Signal* const signal = signals_.find(set.meta.ns, barrier_config_map(set));
  return signal != nullptr && signal->owner_uid == set.meta.uid ? signal : nullptr;
}

void Barriers::look_at(const QueueKey& key) {
  const api::JobSet* const set = uses_.job_sets.find(key.ns, key.name);
  if (set != nullptr && has_barrier(*set, gates_)) runner_.add(key);
}

void Barriers::pods_changed(const QueueKey& key, bool complete) {
  if (complete) return runner_.add(key);
  const api::JobSet* const set = uses_.job_sets.find(key.ns, key.name);
  if (set == nullptr) return;  // its own event will bring the key
  runner_.add_after(key, count_interval(*set));
  uses_.changed(key, false);
}

Plan Barriers::plan_for(const QueueKey& key) const {
  const api::JobSet* const set = uses_.job_sets.find(key.ns, key.name);
  if (set == nullptr || !has_barrier(*set, gates_)) return {};
  const auto children = uses_.jobs.owned_by(set->meta.ns, set->meta.uid);
  return plan_gate(uses_.kinds, {.set = *set,
                                 .children = children,
                                 .signal = signal_of(*set),
                                 .starts = starts_of(*set),
                                 .gates = gates_});
}

}  // namespace muster::controllers::jobset
