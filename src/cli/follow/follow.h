// Follows one JobSet to its end: its logs on the screen, its stages in the block below them or as
// lines, and the exit code that its end stands for.
//
// This is the driver: it turns what it hears from the server, the streams and the timers into
// events for reduce() (follow_state.h), which decides, and carries out the effects. It decides
// nothing itself.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/follow/follow_state.h"
#include "cli/follow/log_streams.h"
#include "cli/follow/screen.h"
#include "client/informer.h"

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
  Follow(client::Client& client, Screen& screen, const FollowOptions& options,
         std::function<void(int exit_code)> ended);
  ~Follow();
  Follow(const Follow&) = delete;
  void start();

  // The end is being brought about by us: it is no news.
  void expect_deletion() { tell(event::StopRequested{}); }
  bool is_deleted() const { return state_.deleted; }
  // Pods whose processes may still run.
  std::vector<std::string> live_pods() const { return state_.pods.live(); }
  bool has_live_pods() const { return state_.pods.has_live(); }
  // Called whenever the JobSet or a pod has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  void tell(const FollowEvent& what);
  void tell_object(const FollowEvent& what);
  void look_around();
  void fire(FollowTimer timer);

  // One for each effect.
  void act(const effect::PrintLog& print) { screen_.log(print.line); }
  void act(const effect::Note& note) { screen_.note(note.line); }
  void act(const effect::ShowBlock& show) { screen_.set_block(show.lines); }
  void act(const effect::ClearBlock&) { screen_.clear_block(); }
  void act(const effect::ReadLog& read) { logs_.read(read.log); }
  void act(const effect::StartTimer& start);
  void act(const effect::AskForRoom&);
  void act(const effect::FindAllPods&);
  void act(const effect::AskServer&);
  void act(const effect::End& end) { ended_(end.exit_code); }

  client::Client& client_;
  Screen& screen_;
  const std::string ns_;
  const std::function<bool()> is_alone_;
  const std::function<void(int)> ended_;
  std::function<void()> changed_;
  FollowState state_;
  std::deque<FollowEffect> effects_;  // to be carried out, in this order
  bool is_acting_ = false;
  LogStreams logs_;
  client::Informer sets_, pods_, warnings_;
  std::map<FollowTimer, TimerId> timers_;
  // Answers that come when we have gone are dropped.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::cli
