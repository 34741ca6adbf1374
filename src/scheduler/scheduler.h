// Gives pods their nodes: informers in, pods/binding out. What is decided is place.h's; here is
// when, in which order, and what is told to people.
//
// A pod is held against all nodes once. If none takes it, it waits, and is held only against nodes
// that have changed to the better since: a pod there has gone, the node is new or has changed. So
// an event costs as many looks as there are pods waiting, whatever the number of nodes. Some time
// after nodes have changed, and now and then anyway, everybody is looked at anew: that renews what
// is said of nodes that still do not fit.
//
// One JobSet must not starve the others. Pods beyond what could run at once if they were alone
// (surplus) are given nodes after the pods of all others, whatever their age: so a set of any size
// that can run as a whole keeps its place in the order. And while a class has more pods than could
// run, its surplus leaves some places of each node to others.
//
// A pod that goes with its owner is given no node: it leaves the line when its turn comes.
//
// What is decided is data, and pure: walk.h decides which pods get a node, from the line and from
// the cluster with everything on it that is in flight (in_flight.h). A pod that was given a node
// counts as being there from that moment on, long before the binding is written.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "controllers/runtime/controller.h"
#include "controllers/runtime/decision_runner.h"
#include "scheduler/cluster.h"
#include "scheduler/pod_classes.h"
#include "scheduler/waiting_line.h"
#include "scheduler/walk.h"

namespace muster::scheduler {

class Scheduler final : public controllers::Controller {
 public:
  explicit Scheduler(controllers::Shared& shared);
  bool idle() const override { return decisions_.idle(); }
  // How often a pod has been held against a node so far.
  std::uint64_t looks() const { return looks_; }

 private:
  using QueueKey = controllers::QueueKey;

  // As kube-scheduler: nobody waits longer for another look at everything.
  static constexpr Duration kFlush = std::chrono::minutes(5);
  // Renewing what is said takes as long as there are looks to be taken, a second at least.
  static constexpr Duration kRenewal = std::chrono::seconds(1);
  static constexpr std::size_t kLooksPerRenewal = 50'000;
  // Looks at a node before others get the loop: some milliseconds.
  static constexpr std::size_t kLooksPerTurn = 50'000;
  // Surplus pods take a node's last places only when their class has not grown for so long: a
  // class that fits as a whole is complete by then.
  static constexpr Duration kReservePatience = std::chrono::seconds(2);
  static constexpr Duration kLongestBackoff = std::chrono::seconds(10);  // of a binding that fails

  struct Entry {
    Pod pod;
    bool counted = false;               // as a member of its class
    bool waits = false;                 // is in the line
    std::string held;                   // the node on which the cluster counts it
    std::optional<std::string> untold;  // why it was refused, until that is told
  };

  void pod_changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  void node_changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  void namespace_changed(const client::ObjectPtr& before, const client::ObjectPtr& after);

  void put(Entry& entry, Pod pod, store::Revision revision);
  const std::string& place_of(const Pod& pod) const;
  bool should_wait(const Pod& pod) const;
  bool stays(const Entry& entry, const Pod& next) const;
  void decision_changed(const QueueKey& key);
  void forget(const QueueKey& key);
  void occupy(Entry& entry);
  void vacate(Entry& entry);
  void join(Entry& entry);
  void leave(Entry& entry);
  void enter_class(Entry& entry);
  void leave_class(Entry& entry);
  PodClasses::Class& class_of(const Pod& pod);
  bool leaves_reserve(const Pod& pod, Duration now) const;
  void rank_anew();
  void offer_reserve_later();
  void offer_reserve_after(Duration delay);
  void company_changed(const Pod& pod);

  void got_better(const Room& room);
  void wake() { decisions_.wake(); }
  void flush_later();
  void renew_later();
  controllers::Decisions<std::string> decide(Duration now);
  bool goes(const Pod& pod) const;
  Entry& entry_of(const Pod& pod) { return entries_.at({pod.ns, pod.name}); }

  controllers::Plan plan_for(const QueueKey& key, Time now) const;
  void carried_out(const QueueKey& key, const controllers::Plan& plan);

  Loop& loop_;
  client::Informer& pods_;
  client::Informer& nodes_;
  client::Informer& namespaces_;
  controllers::Going* going_;
  std::unique_ptr<controllers::EventRecorder> events_;

  Cluster cluster_;
  PodClasses classes_;
  std::uint64_t nodes_state_ = 1;  // counts changes of what nodes can hold
  std::uint64_t ranked_at_ = 1;    // the state that the order of the line follows from
  std::map<QueueKey, Entry> entries_;
  WaitingLine line_;
  // Those in the line to whom it matters where certain others are: affinity, spreading.
  std::set<QueueKey> seeking_company_;

  std::set<std::string> better_;  // nodes that the next walk looks at, with those that wait
  Walk walk_;
  std::uint64_t looks_ = 0;
  bool offers_reserve_ = false;  // soon
  Duration reserve_due_{};       // for those who came last, by monotonic time
  bool renews_ = false;          // soon

  controllers::DecisionRunner<std::string> decisions_;  // the nodes that pods are given, by name
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::scheduler
