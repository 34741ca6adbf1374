// Carries plans out. One runner drives one controller: it takes keys from a fair queue, asks for a
// plan, performs its writes through the client and comes back when a write failed or the plan says
// so. Nothing but the runner writes.
//
// It plans for a key only when the informers are complete and have seen what it last wrote for that
// key. So a plan never repeats a write because its effect has not come back yet.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "client/client.h"
#include "client/informer.h"
#include "client/work_queue.h"
#include "controllers/runtime/decision_log.h"
#include "controllers/runtime/events.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers {

using client::QueueKey;

// What a planner may know besides the objects.
struct Pass {
  Time now;
  int failures = 0;  // passes for this key that failed in a row just before
};

class Runner {
 public:
  struct Options {
    std::string name;
    // Plans look at these; they must outlive the runner.
    std::vector<client::Informer*> sources;
    // Must be a pure function of what the sources hold now.
    std::function<Plan(const QueueKey& key, const Pass& pass)> plan;
    // Every step of this plan, the last one for this key, has succeeded.
    std::function<void(const QueueKey& key, const Plan& plan)> carried_out = {};
    // Called as a write goes out, and with its answer (after the body of the write is gone).
    std::function<void(const Write& write)> sent = {};
    std::function<void(const Write& write, Result<client::Written>& answer)> answered = {};
    // Keys of one group take turns with those of others (fair_group.h).
    client::WorkQueue::GroupOf group = {};
    // Keys name objects of this source. What a plan still has to create is dropped as soon as its
    // object is gone or being deleted: it would be garbage from its first moment on.
    const client::Informer* creates_for = nullptr;
    Duration longest_backoff = client::WorkQueue::kLongestBackoff;  // of a key that fails
    int rest_factor = 49;  // a key rests so many times as long as its plan took (rest_after)
    EventRecorder* events = nullptr;  // must outlive the runner
    DecisionLog* log = nullptr;       // must outlive the runner
  };
  Runner(client::Client& client, Options options);
  Runner(const Runner&) = delete;

  void add(const QueueKey& key) { queue_.add(key); }
  void add_after(const QueueKey& key, Duration delay) { queue_.add_after(key, delay); }
  bool idle() const { return queue_.idle(); }

  // How long a key waits, whatever happens, after a plan that took so long: large objects are
  // looked at less often, so that planning for them takes a small part of the time only.
  static Duration rest_after(Duration took, int factor) {
    constexpr Duration kCheap = std::chrono::microseconds(100);
    constexpr Duration kLongestRest = std::chrono::seconds(1);
    return took <= kCheap ? Duration::zero() : std::min(took * factor, kLongestRest);
  }

 private:
  // Keys that are worked on at once, and writes under way over all of them. A store in this process
  // syncs all writes that wait as one group, so more of them cost less each: 64 left every thread
  // idle at times while a large Job was deleted. A remote server gets fewer.
  static constexpr int kLocalWidth = 256;
  static constexpr int kRemoteWidth = 64;
  // How long to trust that the event of an own write is still to come, before looking without it:
  // long enough for a watch that was cut to come back.
  static constexpr Duration kPatience = std::chrono::seconds(30);
  // How many times longer than its time a plan that may wait does so while writes are under way.
  static constexpr int kBusySteps = 4;
  // Own writes whose events do not bring their key with them are looked for so often.
  static constexpr Duration kRecheck = std::chrono::seconds(1);

  // A plan on its way.
  struct Work {
    QueueKey key;
    Plan plan;
    std::size_t step = 0;
    std::size_t next = 0;       // write of the step that goes out next
    std::size_t under_way = 0;  // writes without an answer yet
    std::vector<std::string> refusals;
    std::string uid = {};  // of the object that it creates for (Options::creates_for)
    bool given_up = false;
  };
  using WorkPtr = std::shared_ptr<Work>;

  // The newest own writes for a key that the sources have not shown yet.
  struct Awaited {
    std::map<const client::Informer*, store::Revision> revisions;
    struct Removal {
      const client::Informer* source;
      std::string ns, name, uid;
    };
    std::vector<Removal> removals;
    Duration until{};  // moment
  };

  void begin(const QueueKey& key);
  bool put_off(const QueueKey& key, const Plan& plan);
  bool synced(const QueueKey& key);
  bool current(const QueueKey& key);
  static bool shown(Awaited& awaited);
  void remember(const QueueKey& key, const client::Operation& write, client::Written& answer);
  void forget_overdue();
  void note(const QueueKey& key, const Plan& plan);
  std::string seen(const Plan& plan) const;
  void pump();
  void send(const WorkPtr& work);
  bool is_pointless(const Work& work, const Write& write) const;
  void give_up(const WorkPtr& work);
  void took_answer(const WorkPtr& work, const Write& write, Result<client::Written> answer);
  void end_step(const WorkPtr& work);
  void finish(const Work& work);
  void fail_pass(const QueueKey& key);
  void tell(const Event& event) {
    if (options_.events != nullptr) options_.events->record(event);
  }
  Time now() { return client_.loop().clock().now(); }
  Duration moment() { return client_.loop().monotonic(); }

  client::Client& client_;
  Options options_;
  const int width_;
  client::WorkQueue queue_;
  std::deque<WorkPtr> ready_;  // have a write to send; they take turns
  int under_way_ = 0;
  std::map<QueueKey, Awaited> awaited_;
  std::map<QueueKey, Duration> put_off_;  // plans that may wait, since that moment
  Duration next_sweep_{};
  std::set<QueueKey> unsynced_;  // wait until a source is complete
  Lifetime lifetime_;
};

}  // namespace muster::controllers
