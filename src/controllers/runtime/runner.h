// Carries plans out. One runner drives one controller: it takes keys from a fair queue, asks for a
// plan, performs its writes through the client and comes back when a write failed or the plan says
// so. Nothing but the runner writes.
//
// It plans for a key only when the informers are complete and have seen what it last wrote for that
// key. So a plan never repeats a write because its effect has not come back yet.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/informer.h"
#include "client/work_queue.h"
#include "controllers/runtime/plan.h"

namespace muster::controllers {

using client::QueueKey;

class Runner {
 public:
  // Must be a pure function of what the sources hold now. They must outlive the runner.
  using Planner = std::function<Plan(const QueueKey& key, Time now)>;
  Runner(std::string name, client::Client& client, std::vector<client::Informer*> sources,
         Planner planner);

  void add(const QueueKey& key) { queue_.add(key); }
  bool idle() const { return queue_.idle(); }

 private:
  // Writes under way at once, over all keys: enough to fill the store's groups, bounded for a
  // remote server.
  static constexpr int kWidth = 32;

  // How long to trust that the event of an own write is still to come, before looking without it.
  static constexpr Duration kPatience = std::chrono::seconds(1);

  void work(const QueueKey& key);
  bool current(const QueueKey& key);
  void remember(const QueueKey& key, const client::Operation& write, std::string_view answer);
  void perform(const QueueKey& key, std::shared_ptr<const Plan> plan, std::size_t next);
  void finish(const QueueKey& key, const Plan& plan);
  void failed(const QueueKey& key, const client::Operation& write, const Error& error);

  std::string name_;
  client::Client& client_;
  std::vector<client::Informer*> sources_;
  Planner planner_;
  client::WorkQueue queue_;
  // The newest own write for a key that its source has not shown yet.
  struct Awaited {
    const client::Informer* source;
    store::Revision revision;
    Time until;
  };
  std::map<QueueKey, std::vector<Awaited>> awaited_;
};

}  // namespace muster::controllers
