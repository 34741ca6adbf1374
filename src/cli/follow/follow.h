// Follows one JobSet to its end: its logs on the screen, its stages in the block below them or as
// lines, and the exit code that its end stands for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cli/follow/log_streams.h"
#include "cli/follow/screen.h"
#include "client/informer.h"
#include "story/pod_warning.h"
#include "story/progress.h"

namespace muster::cli {

struct FollowOptions {
  std::string ns;
  std::string job_set;
  std::string uid;  // of the JobSet: one of the same name that was there before is another
  LogOptions logs;
  std::string keys;            // what may be pressed, for the block
  std::string exit_code_from;  // RJOB[/JOB[/POD]]; empty: of the JobSet's end
  std::optional<Duration> timeout;
  std::string kubeconfig;  // for other programs, if the usual one is not of this server
  // Says whether nobody else uses the server: what nobody can change then is not waited for.
  std::function<bool()> is_alone = [] { return false; };
};

class Follow {
 public:
  // `ended` is called once with the exit code; nothing has been cleaned up then.
  Follow(client::Client& client, Screen& screen, FollowOptions options,
         std::function<void(int exit_code)> ended);
  ~Follow();
  Follow(const Follow&) = delete;
  void start();

  // The end is being brought about by us: it is no news.
  void expect_deletion();
  bool is_deleted() const { return deleted_; }
  // Pods whose processes may still run.
  std::vector<std::string> live_pods() const;
  bool has_live_pods() const;
  // Called whenever the JobSet or a pod has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  struct Known {
    story::PodFacts facts;
    bool gone = false;
    // Why it is not prepared; only its events tell.
    std::string fault_reason;
    std::string fault;

    bool is_live() const { return !gone && !facts.has_ended(); }
    // What it lacks is told in amounts.
    void take_room(const story::Room& room) {
      if (!facts.lacking.empty()) facts.unschedulable = story::shortage(facts.lacking, room);
    }
    // A pod that has not started has the trouble that its events tell.
    void take_fault() {
      if (facts.started || !facts.trouble.empty()) return;
      facts.trouble = fault;
      facts.trouble_reason = fault_reason;
    }
  };

  void pod_changed(const client::ObjectPtr& before, const client::ObjectPtr& after);
  Known& take_pod(story::PodFacts facts);
  void job_set_changed(const client::ObjectPtr& after);
  void event_changed(json::Value event);
  void warned(json::Value event);
  void pod_warned(json::Value event);
  void take_warning(Known& known, const story::PodWarning& warning);
  void job_warned(json::Value event);
  std::optional<story::DeadEnd> find_dead_end() const;
  void look();
  void show();
  void show_soon();
  story::BlockView block_view() const;
  void tell_restart(std::int64_t restart);
  const story::PodFacts* failure_before(std::int64_t restart) const;
  void ask_for_room();
  void keep_block();
  void tick();
  void watch_for_dead_end();
  void look_for_pods();
  void end_if_over();
  void tell_failure();
  int exit_code() const;
  void end(int exit_code);
  story::PodList present_pods() const;  // by name

  client::Client& client_;
  Screen& screen_;
  FollowOptions options_;
  std::function<void(int)> ended_;
  std::function<void()> changed_;
  Time begun_;
  LogStreams logs_;
  std::unique_ptr<client::Informer> sets_, pods_, events_, warnings_;
  std::map<std::string, Known> known_;  // by uid, also pods that are gone
  // Of pods that we have not seen yet, by uid; most are of others.
  std::multimap<std::string, story::PodWarning> early_;
  std::map<std::string, std::string> podless_;  // Jobs whose pods are not taken, and why
  std::optional<api::JobSet> set_;
  std::optional<story::Standing> told_;
  std::optional<std::int64_t> told_restarts_;
  std::set<std::string, std::less<>> seen_stages_;  // that have had a pod
  bool seen_before_end_ = false;
  // What nodes offer, once a pod fits on none; also tells answers that come late that we are there.
  std::shared_ptr<std::optional<story::Room>> room_;
  std::string told_trouble_;
  std::string stuck_pod_;  // of the dead end, if there is one
  Time stuck_since_{};
  std::set<std::string> warned_of_;
  std::optional<Time> outcome_seen_;
  // From then on, whether its pods have been looked for; also tells a late answer that we are
  // there.
  std::shared_ptr<bool> all_pods_known_;
  TimerId tick_ = TimerId::kNone, last_words_ = TimerId::kNone, show_ = TimerId::kNone;
  int seconds_ = 0;
  bool suspension_told_ = false;
  bool deletion_expected_ = false;
  bool deleted_ = false;
  bool is_over_ = false;
};

}  // namespace muster::cli
