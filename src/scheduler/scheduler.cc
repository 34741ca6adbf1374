#include "scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "controllers/runtime/writes.h"
#include "json/write.h"
#include "scheduler/filter.h"
#include "scheduler/place.h"

namespace muster::scheduler {
namespace {

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
          .body = json::write(body)};
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

}  // namespace

Scheduler::Scheduler(controllers::Shared& shared)
    : loop_(shared.client.loop()),
      pods_(shared.informers.changes_of("", "v1", "pods")),
      nodes_(shared.informers.changes_of("", "v1", "nodes")),
      namespaces_(shared.informers.changes_of("", "v1", "namespaces")),
      going_(shared.going),
      events_(controllers::make_event_recorder(shared.client, shared.registry, "default-scheduler",
                                               controllers::EventRecorder::Form::kSeries)),
      runner_(shared.client,
              {.name = "scheduler",
               .sources = {&pods_, &nodes_, &namespaces_},
               .plan = [this](const QueueKey& key,
                              const controllers::Pass& pass) { return plan_for(key, pass.now); },
               .carried_out = [this](const QueueKey& key) { carried_out(key); },
               .group =
                   [this](const QueueKey& key) {
                     const auto at = entries_.find(key);
                     return at == entries_.end() ? std::string() : at->second.pod.group;
                   },
               .longest_backoff = kLongestBackoff,
               .events = events_.get(),
               .log = &shared.decisions}) {
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
  put(entries_[key], std::move(pod));
}

// Whether the newer version of the pod stands where this one stands: in the line, at its node, or
// outside of it all. Mostly only its status is news.
bool Scheduler::Entry::stays_with(const Pod& next) const {
  if (!asks_the_same(pod, next)) return false;
  const bool keeps_assumption = next.node.empty() && next.wants_node();
  return waits == (next.wants_node() && assumed.empty()) &&
         place() == (keeps_assumption ? assumed : next.node);
}

void Scheduler::put(Entry& entry, Pod pod) {
  const bool stays = entry.stays_with(pod);
  if (stays) {
    pod.cls = entry.pod.cls;
    pod.surplus = entry.pod.surplus;
  } else {
    vacate(entry);
    leave(entry);
    leave_class(entry);
  }
  entry.pod = std::move(pod);
  if (!stays) enter_class(entry);
  if (!entry.pod.wants_node()) {
    entry.assumed.clear();
    entry.untold.reset();
  }
  if (entry.has_news()) runner_.add({entry.pod.ns, entry.pod.name});
  if (stays) return;
  occupy(entry);
  if (entry.pod.wants_node() && entry.assumed.empty()) join(entry);
}

void Scheduler::forget(const QueueKey& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  vacate(at->second);
  leave(at->second);
  leave_class(at->second);
  entries_.erase(at);
}

void Scheduler::occupy(Entry& entry) {
  if (entry.place().empty()) return;
  cluster_.add_pod(entry.pod, entry.place());
  company_changed(entry.pod);
}

// Its node may take somebody else now; so may those near it from which it kept others away.
void Scheduler::vacate(Entry& entry) {
  if (entry.place().empty()) return;
  if (const Room* const room = cluster_.find(entry.place()))
    cluster_.visit_neighbours(*room, [this](const Room& near) { got_better(near); });
  cluster_.remove_pod(entry.pod, entry.place());
  company_changed(entry.pod);
}

void Scheduler::join(Entry& entry) {
  entry.waits = true;
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
  cls.grew = loop_.clock().now();
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

bool Scheduler::leaves_reserve(const Pod& pod) {
  if (!pod.surplus) return false;
  const PodClasses::Class& cls = class_of(pod);
  return loop_.clock().now() - cls.grew < kReservePatience || cls.members > cls.could_run;
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
  better_.merge(looking_at_);  // the walk, if there is one, begins anew
  next_turn_.reset();
  if (!line.empty()) offer_reserve_later();
}

void Scheduler::offer_reserve_later() {
  if (std::exchange(offers_reserve_, true)) return;
  loop_.after(kReservePatience, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    offers_reserve_ = false;
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

void Scheduler::wake() {
  if (std::exchange(awake_, true)) return;
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) wait_for_sources();
  });
}

// Half the nodes, or half the pods that fill them, are no ground for a decision.
void Scheduler::wait_for_sources() {
  for (client::Informer* source : {&pods_, &nodes_, &namespaces_}) {
    if (source->synced()) continue;
    return source->on_synced([this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) wait_for_sources();
    });
  }
  awake_ = false;
  look();
}

// One walk along the line, in as many turns of the loop as it takes. Fresh pods look at all nodes,
// those that were refused at the nodes that are better now.
void Scheduler::look() {
  rank_anew();
  if (!next_turn_) {
    looking_at_ = std::exchange(better_, {});
    refused_.clear();
  }
  std::vector<const Room*> rooms;
  for (const std::string& name : looking_at_)
    if (const Room* const room = cluster_.find(name)) rooms.push_back(room);
  const WaitingLine::Places& walk = rooms.empty() ? line_.fresh() : line_.all();
  auto at = next_turn_ ? walk.lower_bound(*next_turn_) : walk.begin();
  for (std::size_t looks = 0; at != walk.end() && looks < kLooksPerTurn;) {
    if (all_refused()) {
      at = walk.end();
      break;
    }
    const auto here = at++;  // who is given a node leaves the line
    const std::size_t more = consider(*here->second, rooms);
    looks += more;
    looks_ += more;
  }
  next_turn_.reset();
  if (at != walk.end()) next_turn_ = at->first;
  if (next_turn_ || !line_.fresh().empty() || !better_.empty()) wake();
}

// During a walk nodes only fill up, so what one pod was refused is refused to all of its kin. Not
// if it matters where other pods are: then it matters who asks.
bool Scheduler::shares_answers(const Pod& pod) const {
  const Wishes& wishes = pod.wishes;
  return wishes.near.empty() && wishes.apart.empty() && wishes.spread.empty() &&
         cluster_.repelling_keys().empty();
}

bool Scheduler::goes(const Pod& pod) const {
  const client::ObjectPtr object = going_ == nullptr ? nullptr : pods_.find(pod.ns, pod.name);
  return object && going_->goes(object->meta());
}

// Nobody in the line is left to be looked at in this walk.
bool Scheduler::all_refused() const {
  if (!line_.fresh().empty()) return false;
  std::size_t refused = 0;
  for (const auto& [kin, refusal] : refused_) refused += line_.members(kin);
  return refused == line_.all().size();
}

std::size_t Scheduler::consider(const Pod& pod, const std::vector<const Room*>& rooms) {
  Entry& entry = entry_of(pod);
  const bool fresh = line_.is_fresh(pod);
  const auto known = refused_.find(Kin::of(pod));
  if (known != refused_.end() && !fresh) return 1;
  entry.pod.leaves_reserve = leaves_reserve(pod);
  Placement placement;
  if (known != refused_.end() && !known->second.empty()) {
    placement.refusal = known->second;
  } else if (fresh) {
    placement = scheduler::place(cluster_, pod);
  } else {
    placement.node = place_among(cluster_, pod, rooms);
  }
  const std::size_t looks =
      known != refused_.end() ? 1 : 1 + (fresh ? cluster_.nodes() : rooms).size();
  if (!placement.node.empty() && goes(pod)) {
    leave(entry);  // it comes back with its next version, if it stays after all
    return looks;
  }
  if (!placement.node.empty()) {
    assume(entry, std::move(placement.node));
    return looks;
  }
  if (shares_answers(pod)) refused_[Kin::of(pod)] = placement.refusal;
  if (!fresh) return looks;
  line_.refused(pod);
  entry.untold = std::move(placement.refusal);
  runner_.add({pod.ns, pod.name});
  return looks;
}

void Scheduler::assume(Entry& entry, std::string node) {
  leave(entry);
  entry.assumed = std::move(node);
  entry.sent = entry.bound = false;
  entry.untold.reset();
  occupy(entry);
  runner_.add({entry.pod.ns, entry.pod.name});
}

controllers::Plan Scheduler::plan_for(const QueueKey& key, Time now) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return {};
  Entry& entry = at->second;
  if (!entry.has_news()) return {};
  return entry.untold ? plan_refusal(entry, now) : plan_binding(entry);
}

controllers::Plan Scheduler::plan_binding(Entry& entry) const {
  entry.sent = true;
  controllers::Plan plan;
  plan.reason = "placed on " + entry.assumed;
  plan.then({.operation = binding(pods_.resource(), entry.pod, entry.assumed),
             .when_done = controllers::Event{
                 .regarding = ref_of(entry.pod),
                 .reason = "Scheduled",
                 .message = fmt::format("Successfully assigned {}/{} to {}", entry.pod.ns,
                                        entry.pod.name, entry.assumed),
                 .action = "Binding"}});
  return plan;
}

controllers::Plan Scheduler::plan_refusal(Entry& entry, Time now) const {
  const Pod& pod = entry.pod;
  entry.telling = *entry.untold;
  controllers::Plan plan;
  plan.reason = *entry.untold;
  if (pod.refusal_reason != "Unschedulable" || pod.refusal != *entry.untold)
    plan.then({.operation = refusal_patch(pods_.resource(), pod, *entry.untold, now)});
  plan.events.push_back({.regarding = ref_of(pod),
                         .warning = true,
                         .reason = "FailedScheduling",
                         .message = note(*entry.untold),
                         .action = "Scheduling"});
  return plan;
}

void Scheduler::carried_out(const QueueKey& key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) return;
  Entry& entry = at->second;
  if (entry.sent) entry.bound = true;  // else it was the binding of an earlier pod
  if (entry.untold == entry.telling) entry.untold.reset();  // else there is more to tell by now
}

}  // namespace muster::scheduler
