#include "scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/runtime/writes.h"
#include "scheduler/filter.h"

namespace muster::scheduler {
namespace {

using client::QueueKey;
using InFlight = controllers::InFlight<std::string>;
using json::Value;

constexpr std::size_t kMaxNote = 1'024;  // of an event

controllers::ObjectRef ref_of(const Pod& pod) {
  return {.api_version = "v1",
          .kind = "Pod",
          .ns = pod.ns,
          .name = pod.name,
          .uid = pod.uid,
          .resource_version = {}};
}

client::Operation binding(const api::Resource& pods, const Pod& pod, const std::string& node) {
  json::Arena arena;
  const Value body = Value::object(arena);
  body.set("apiVersion", "v1");
  body.set("kind", "Binding");
  body.object_at("metadata").set("name", pod.name);
  // A pod of the same name that came later is not the one that was placed.
  body.object_at("metadata").set("uid", pod.uid);
  body.object_at("target").set("kind", "Node");
  body.object_at("target").set("name", node);
  return {.verb = client::Verb::kCreate,
          .resource = &pods,
          .ns = pod.ns,
          .name = pod.name,
          .subresource = "binding",
          .body = body};
}

client::Operation refusal_patch(const api::Resource& pods, const Pod& pod,
                                const std::string& message, Time now) {
  json::Arena arena;
  const Value condition = Value::object(arena);
  condition.set("type", "PodScheduled");
  condition.set("status", "False");
  condition.set("reason", "Unschedulable");
  condition.set("message", message);
  const bool was_refused = !pod.refusal_reason.empty();
  if (!was_refused) {
    condition.set("lastProbeTime", Value());
    condition.set("lastTransitionTime", format_time(now));
  }
  if (pod.generation > 0) condition.set("observedGeneration", Value::of(pod.generation));
  const Value change = Value::object(arena);
  change.object_at("status").array_at("conditions").push_back(condition);
  client::Operation write = controllers::patch(pods, ref_of(pod), change, "status");
  write.patch_type = client::PatchType::kStrategic;  // other conditions stay as they are
  return write;
}

std::string note(std::string message) {
  constexpr std::string_view kCut = " ...";
  if (message.size() > kMaxNote) message.replace(kMaxNote - kCut.size(), std::string::npos, kCut);
  return message;
}

bool asks_the_same(const Pod& a, const Pod& b) {
  return a.uid == b.uid && a.priority == b.priority && a.labels == b.labels && a.wishes == b.wishes;
}

QueueKey key_of(const Pod& pod) { return {pod.ns, pod.name}; }

controllers::Plan plan_binding(const api::Resource& pods, const Pod& pod,
                               const InFlight::Entry& decision) {
  const std::string& node = decision.value;
  controllers::Plan plan;
  plan.reason = "placed on " + node;
  plan.then(
      {.operation = binding(pods, pod, node),
       .when_done = controllers::Event{.regarding = ref_of(pod),
                                       .reason = "Scheduled",
                                       .message = fmt::format("Successfully assigned {}/{} to {}",
                                                              pod.ns, pod.name, node),
                                       .action = "Binding"},
       .decision = decision.id});
  return plan;
}

controllers::Plan plan_refusal(const api::Resource& pods, const Pod& pod, const std::string& why,
                               Time now) {
  controllers::Plan plan;
  plan.reason = why;
  if (pod.refusal_reason != "Unschedulable" || pod.refusal != why)
    plan.then({.operation = refusal_patch(pods, pod, why, now)});
  plan.events.push_back({.regarding = ref_of(pod),
                         .warning = true,
                         .reason = "FailedScheduling",
                         .message = note(why),
                         .action = "Scheduling"});
  return plan;
}

}  // namespace

Scheduler::Scheduler(controllers::Shared& shared)
    : loop_(shared.client.loop()),
      pods_(shared.informers.changes_of("", "v1", "pods")),
      nodes_(shared.informers.changes_of("", "v1", "nodes")),
      namespaces_(shared.informers.changes_of("", "v1", "namespaces")),
      going_(shared.going),
      events_(controllers::make_event_recorder(shared.client, shared.registry, "default-scheduler",
                                               controllers::EventRecorder::Form::kSeries)),
      decisions_(shared.client,
                 {.decide = [this](const InFlight&, Duration now) { return decide(now); },
                  .changed = [this](const QueueKey& key) { decision_changed(key); },
                  .writes = {.name = "scheduler",
                             .sources = {&pods_, &nodes_, &namespaces_},
                             .plan =
                                 [this](const QueueKey& key, const controllers::Pass& pass) {
                                   return plan_for(key, pass.now);
                                 },
                             .carried_out = [this](const QueueKey& key,
                                                   const auto& plan) { carried_out(key, plan); },
                             .group =
                                 [this](const QueueKey& key) {
                                   const auto at = entries_.find(key);
                                   return at == entries_.end() ? std::string()
                                                               : at->second.pod.group;
                                 },
                             .longest_backoff = kLongestBackoff,
                             .events = events_.get(),
                             .log = &shared.decisions}}) {
  pods_.on_change([this](const auto& before, const auto& after) { pod_changed(before, after); });
  nodes_.on_change([this](const auto& before, const auto& after) { node_changed(before, after); });
  namespaces_.on_change(
      [this](const auto& before, const auto& after) { namespace_changed(before, after); });
  flush_later();
}

void Scheduler::pod_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  if (before && (!after || before->meta().uid != after->meta().uid))
    forget({before->meta().ns, before->meta().name});
  if (!after) return;
  Pod pod = read_pod(pods_.content());
  const QueueKey key{pod.ns, pod.name};
  if (pod.ended) return forget(key);  // it takes nothing any more, and wants nothing
  put(entries_[key], std::move(pod), client::to_revision(after->meta().resource_version));
}

// Where the pod is, or will be as far as is known.
const std::string& Scheduler::place_of(const Pod& pod) const {
  if (!pod.node.empty()) return pod.node;
  const std::string* const given = decisions_.in_flight().find(key_of(pod));
  return given == nullptr ? pod.node : *given;
}

bool Scheduler::should_wait(const Pod& pod) const {
  return pod.wants_node() && !decisions_.in_flight().contains(key_of(pod));
}

// Whether the newer version of the pod stands where this one stands: in the line, at its node, or
// outside of it all. Mostly only its status is news.
bool Scheduler::stays(const Entry& entry, const Pod& next) const {
  return asks_the_same(entry.pod, next) && entry.waits == should_wait(next) &&
         entry.held == place_of(next);
}

void Scheduler::put(Entry& entry, Pod pod, store::Revision revision) {
  const QueueKey key = key_of(pod);
  decisions_.observed(key,
                      {.uid = pod.uid, .revision = revision, .shows_effect = !pod.node.empty()});
  if (!pod.wants_node()) {
    decisions_.forget(key);
    entry.untold.reset();
  }
  const bool same_place = stays(entry, pod);
  if (same_place) {
    pod.cls = entry.pod.cls;
    pod.surplus = entry.pod.surplus;
  } else {
    vacate(entry);
    leave(entry);
    leave_class(entry);
  }
  entry.pod = std::move(pod);
  if (!same_place) enter_class(entry);
  if (entry.untold || decisions_.in_flight().due(key) != nullptr) decisions_.add(key);
  if (same_place) return;
  occupy(entry);
  if (should_wait(entry.pod)) join(entry);
}

// It was given a node, or has lost it before it was bound, or may be given another.
void Scheduler::decision_changed(const QueueKey& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  Entry& entry = at->second;
  const bool waits = should_wait(entry.pod);
  if (!waits) leave(entry);
  if (const std::string& place = place_of(entry.pod); place != entry.held) {
    vacate(entry);
    occupy(entry);
    if (!place.empty()) entry.untold.reset();
  }
  if (waits && !entry.waits) join(entry);
}

void Scheduler::forget(const QueueKey& key) {
  decisions_.forget(key);
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  vacate(at->second);
  leave(at->second);
  leave_class(at->second);
  entries_.erase(at);
}

void Scheduler::occupy(Entry& entry) {
  entry.held = place_of(entry.pod);
  if (entry.held.empty()) return;
  cluster_.add_pod(entry.pod, entry.held);
  company_changed(entry.pod);
}

// Its node may take somebody else now; so may those near it from which it kept others away.
void Scheduler::vacate(Entry& entry) {
  const std::string place = std::exchange(entry.held, {});
  if (place.empty()) return;
  if (const Room* const room = cluster_.find(place))
    cluster_.visit_neighbours(*room, [this](const Room& near) { got_better(near); });
  cluster_.remove_pod(entry.pod, place);
  company_changed(entry.pod);
}

void Scheduler::join(Entry& entry) {
  entry.waits = true;
  class_of(entry.pod);  // a pod that has rested may have missed changes of the nodes
  line_.join(entry.pod);
  cluster_.use_topologies(entry.pod.wishes);
  if (!entry.pod.wishes.near.empty() || !entry.pod.wishes.spread.empty())
    seeking_company_.insert({entry.pod.ns, entry.pod.name});
  wake();
}

void Scheduler::leave(Entry& entry) {
  if (!std::exchange(entry.waits, false)) return;
  line_.leave(entry.pod);
  cluster_.drop_topologies(entry.pod.wishes);
  seeking_company_.erase({entry.pod.ns, entry.pod.name});
}

void Scheduler::enter_class(Entry& entry) {
  Pod& pod = entry.pod;
  entry.counted = true;
  pod.cls = classes_.enter(pod);
  PodClasses::Class& cls = class_of(pod);
  pod.surplus =
      pod.wants_node() && !cluster_.nodes().empty() && cls.members > cls.could_run_politely;
  if (!pod.surplus) return;
  cls.grew = loop_.monotonic();
  offer_reserve_later();
}

void Scheduler::leave_class(Entry& entry) {
  if (std::exchange(entry.counted, false)) classes_.leave(entry.pod.cls);
}

// Brought up to date with the nodes.
PodClasses::Class& Scheduler::class_of(const Pod& pod) {
  PodClasses::Class& cls = classes_.at(pod.cls);
  if (std::exchange(cls.as_of, nodes_state_) == nodes_state_) return cls;
  cls.could_run = cls.could_run_politely = 0;
  for (const Room* room : cluster_.nodes()) {
    Resources all = room->node.allocatable;
    cls.could_run += most_at_once(pod.wishes.demand.requests, all);
    all.pods -= reserve_of(all.pods);
    cls.could_run_politely += most_at_once(pod.wishes.demand.requests, all);
  }
  return cls;
}

// The classes of pods in the line are up to date (rank_anew).
bool Scheduler::leaves_reserve(const Pod& pod, Duration now) const {
  if (!pod.surplus) return false;
  const PodClasses::Class& cls = classes_.at(pod.cls);
  return now - cls.grew < kReservePatience || cls.members > cls.could_run;
}

// What could run at once follows from the nodes: the order is made anew when they have changed.
void Scheduler::rank_anew() {
  if (std::exchange(ranked_at_, nodes_state_) == nodes_state_) return;
  std::map<PodClass, std::size_t> before;  // waiting pods, less those that are ranked already
  std::vector<std::pair<const Pod*, bool>> line;  // and whether it is fresh
  for (const auto& [turn, pod] : line_.all()) {
    line.emplace_back(pod, line_.is_fresh(*pod));
    ++before[pod->cls];
  }
  std::ranges::stable_sort(line, {}, [](const auto& each) { return each.first->created; });
  for (const auto& [pod, fresh] : line) {
    const PodClasses::Class& cls = class_of(*pod);
    const std::size_t ahead = cls.members - before[pod->cls]--;
    line_.leave(*pod);
    entry_of(*pod).pod.surplus = !cluster_.nodes().empty() && ahead >= cls.could_run_politely;
    line_.join(*pod);
    if (!fresh) line_.refused(*pod);
  }
  better_.merge(walk_.nodes);  // the walk, if there is one, begins anew
  walk_ = {};
  if (!line.empty()) offer_reserve_later();
}

void Scheduler::offer_reserve_later() {
  reserve_due_ = loop_.monotonic() + kReservePatience;
  if (!std::exchange(offers_reserve_, true)) offer_reserve_after(kReservePatience);
}

// Surplus pods that came meanwhile have waited for less long: to them it is offered once more.
void Scheduler::offer_reserve_after(Duration delay) {
  loop_.after(delay, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    const Duration left = reserve_due_ - loop_.monotonic();
    offers_reserve_ = left > Duration::zero();
    if (offers_reserve_) offer_reserve_after(left);
    for (const Room* room : cluster_.nodes()) got_better(*room);
  });
}

// Those who want to be near such a pod, or count it, look again. Also when it has gone: the first
// of a series may go anywhere.
void Scheduler::company_changed(const Pod& pod) {
  for (const QueueKey& key : seeking_company_) {
    const Entry& seeker = entries_.at(key);
    const Wishes& wishes = seeker.pod.wishes;
    const bool matters =
        std::ranges::any_of(wishes.near,
                            [&](const PodTerm& term) { return cluster_.selects(term, pod); }) ||
        std::ranges::any_of(wishes.spread, [&](const SpreadConstraint& constraint) {
          return constraint.selects(pod.labels);
        });
    if (!matters) continue;
    line_.join(seeker.pod);
    wake();
  }
}

void Scheduler::got_better(const Room& room) {
  if (line_.empty()) return;
  better_.insert(room.node.name);
  wake();
}

void Scheduler::node_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  if (!after) {
    cluster_.remove_node(before->meta().name);
    ++nodes_state_;
    if (cluster_.has_topologies()) line_.refresh_all();
    renew_later();
    return wake();
  }
  Node node = read_node(nodes_.content());
  const Room* const room = cluster_.find(node.name);
  if (room != nullptr && room->node == node) return;  // a heartbeat
  const bool is_first = cluster_.nodes().empty();
  const bool moves = room == nullptr || room->node.labels != node.labels;
  const std::string name = node.name;
  const bool resized = room == nullptr || room->node.allocatable != node.allocatable;
  cluster_.put_node(std::move(node));
  if (resized) ++nodes_state_;
  got_better(*cluster_.find(name));
  // Who waits for want of nodes hears of the first; domains grow and shrink with their nodes.
  if (is_first || (moves && cluster_.has_topologies())) line_.refresh_all();
  renew_later();
  wake();
}

void Scheduler::namespace_changed(const client::ObjectPtr& before, const client::ObjectPtr& after) {
  if (!after) return cluster_.remove_namespace(before->meta().name);
  Labels labels(after->meta().labels.begin(), after->meta().labels.end());
  std::ranges::sort(labels);
  if (before && labels == cluster_.namespace_labels(after->meta().name)) return;
  cluster_.put_namespace(after->meta().name, std::move(labels));
  if (cluster_.has_topologies()) line_.refresh_all();
  wake();
}

void Scheduler::flush_later() {
  loop_.after(kFlush, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    line_.refresh_all();
    if (!line_.empty()) wake();
    flush_later();
  });
}

void Scheduler::renew_later() {
  if (line_.empty() || std::exchange(renews_, true)) return;
  const std::size_t looks = line_.all().size() * cluster_.nodes().size();
  const Duration delay = kRenewal * (1 + static_cast<int>(looks / kLooksPerRenewal));
  loop_.after(std::min(delay, kFlush), [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    renews_ = false;
    line_.refresh_all();
    wake();
  });
}

// One turn of a walk. What it found out about the line is noted here; what it gives away is noted
// when it is in flight (decision_changed).
controllers::Decisions<std::string> Scheduler::decide(Duration now) {
  rank_anew();
  if (!walk_.next) walk_ = {.nodes = std::exchange(better_, {}), .next = {}, .refused = {}};
  WalkTurn turn =
      walk_on(line_, cluster_, std::move(walk_),
              {.goes = [this](const Pod& pod) { return goes(pod); },
               .leaves_reserve = [&](const Pod& pod) { return leaves_reserve(pod, now); }},
              kLooksPerTurn);
  walk_ = std::move(turn.walk);
  looks_ += turn.looks;
  controllers::Decisions<std::string> decisions;
  // Until its next version, if it stays after all.
  for (const Pod* pod : turn.going) leave(entry_of(*pod));
  for (auto& [pod, node] : turn.given)
    decisions.made.push_back(
        {.object = key_of(*pod), .uid = pod->uid, .value = std::move(node), .carried_by = {}});
  for (auto& [pod, why] : turn.refused) {
    line_.refused(*pod);
    entry_of(*pod).untold = std::move(why);
    decisions.also.push_back(key_of(*pod));
  }
  decisions.more = walk_.next || turn.fresh_left > 0 || !better_.empty();
  return decisions;
}

bool Scheduler::goes(const Pod& pod) const {
  const client::ObjectPtr object = going_ == nullptr ? nullptr : pods_.find(pod.ns, pod.name);
  return object && going_->goes(object->meta());
}

controllers::Plan Scheduler::plan_for(const QueueKey& key, Time now) const {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return {};
  const Entry& entry = at->second;
  if (entry.untold) return plan_refusal(pods_.resource(), entry.pod, *entry.untold, now);
  const InFlight::Entry* const decision = decisions_.in_flight().due(key);
  if (decision == nullptr) return {};
  return plan_binding(pods_.resource(), entry.pod, *decision);
}

void Scheduler::carried_out(const QueueKey& key, const controllers::Plan& plan) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  Entry& entry = at->second;
  if (entry.untold == plan.reason) entry.untold.reset();  // else there is more to tell by now
}

}  // namespace muster::scheduler
