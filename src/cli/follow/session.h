// One JobSet followed on a screen until it ends or a person does: the driver of ending.h, for run
// and attach. Used on one loop, which it stops when all is over.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/follow/ending.h"
#include "cli/follow/follow.h"
#include "cli/follow/screen.h"
#include "client/client.h"

namespace muster::cli {

class Session {
 public:
  Session(client::Client& client, EndingPlan plan, bool progress);
  ~Session();
  Session(const Session&) = delete;

  // The JobSet exists from now on.
  void follow(FollowOptions options);
  // It never will; why has been told.
  void refused(int exit_code) { tell(ending::Refused{exit_code}); }

  void signalled(int number) { tell(ending::Signal{number}); }
  void pressed(Key key) { tell(ending::Pressed{key}); }
  void lost_server(const Error& why);
  void note(std::string_view line) { screen_.note(line); }

  int exit_code() const { return state_.exit_code(); }
  bool has_left_something() const { return state_.has_left_something(); }

 private:
  void tell(const ending::Event& what);
  void tell_changes() { tell(ending::Changed{follow_->is_deleted(), follow_->has_live_pods()}); }
  void act(const ending::Say& say) { screen_.note(say.line); }
  void act(const ending::ClearBlock&) { screen_.clear_block(); }
  void act(const ending::Delete&);
  void act(const ending::Kill&);
  void act(const ending::Finish&);
  void act(const ending::LimitFinish& limit);
  void act(const ending::StopNow&) { loop_.stop(); }

  client::Client& client_;
  Loop& loop_;
  EndingState state_;
  Screen screen_;
  std::string ns_;
  std::optional<Follow> follow_;
  TimerId finish_limit_ = TimerId::kNone;
};

}  // namespace muster::cli
