// One of several processes leads: it holds a Lease and renews it.
//
// A lease gives no fencing by itself: a leader that was frozen past its end still believes in it
// when it goes on. So its writes carry the time until which it surely leads (leader_transport.h),
// and are conditional besides (a resourceVersion, a uid, or a name that exists once). Every span is
// counted by Loop::monotonic(): to set a clock, here or elsewhere, makes nobody lead or stop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"

namespace muster::client {

struct LeaderOptions {
  std::string ns = "kube-system";
  std::string name = "muster";
  std::string identity;                       // unique among the candidates
  Duration lease = std::chrono::seconds(15);  // others wait this long after the last sign of life
  Duration renew =
      std::chrono::seconds(10);              // a leader that could not renew for this long gives up
  Duration retry = std::chrono::seconds(2);  // between two attempts
};

class LeaderElection {
 public:
  // `started` and `stopped` are called on the client's loop, in turns. After `stopped` it runs for
  // the lease again.
  LeaderElection(Client& client, const api::Registry& registry, LeaderOptions options, Task started,
                 Task stopped);
  ~LeaderElection() { *alive_ = false; }
  LeaderElection(const LeaderElection&) = delete;

  void start() { tick(); }
  bool leading() const { return leading_; }
  // By Loop::monotonic(). Nobody else leads before this; in the past if we do not. Earlier than the
  // lease's end by what others' clocks, and the way to the server, may take.
  Duration leads_until() const { return leading_ ? renewed_ + options_.renew : Duration::min(); }
  // Gives the lease back, so that another need not wait. Ends the election.
  void release(Task done);

 private:
  void tick();
  void attempt();
  void took_lease(int attempt, Result<std::string> lease);
  void write(int attempt, Verb verb, const std::string& resource_version, int transitions,
             const std::string& acquired);
  void lead(bool leading);
  void complain(const Error& error);
  Duration now() const { return client_.loop().monotonic(); }

  Client& client_;
  const api::Resource& leases_;
  LeaderOptions options_;
  Task started_, stopped_;
  bool leading_ = false;
  bool released_ = false;
  Duration renewed_{};  // when we last wrote it
  // Every tick is an attempt of its own: an answer that never comes holds nothing up, one that
  // comes late is ignored.
  int attempt_ = 0;
  // The other holder's last state and when we first saw it: its clock is not ours.
  std::string seen_version_;
  std::string complaint_;  // the last one, which is not repeated
  Duration seen_at_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::client
