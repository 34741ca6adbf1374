// What ends a run or an attach: its JobSet's end, keys and signals, a server that does not come
// back, a reader that has gone. Pure: events in, effects out.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/time.h"
#include "cli/follow/keys.h"
#include "cli/verbs/exit_code.h"

namespace muster::cli {

struct EndingPlan {
  std::string job_set;
  std::string server;              // the flags by which other verbs find the server, behind a space
  bool stops_job_set = false;      // it is ours: it is not left without us. Otherwise it goes on.
  bool is_server_private = false;  // the server ends with us, so nothing may be left running
  bool can_detach = false;
};

namespace ending {

// Events.
struct Followed {  // it exists from now on
  std::string job_set;
};
struct Changed {
  bool is_deleted = false;
  bool has_live_pods = false;
};
struct Over {  // what is followed has ended, or there is no use in waiting for it
  int exit_code;
};
struct Refused {  // it could not be created; the reason has been told
  int exit_code;
};
struct Signal {
  int number;
};
struct Pressed {
  Key key;
};
struct ServerLost {
  std::string why;  // fit for a terminal
};
struct OutputFailed {
  bool reader_has_gone;
  std::string why;
};
struct Deleted {};          // the request to delete it has been accepted
struct DeletionRefused {};  // the reason has been told
struct Killed {};

using Event = std::variant<Followed, Changed, Over, Refused, Signal, Pressed, ServerLost,
                           OutputFailed, Deleted, DeletionRefused, Killed>;

// Effects.
struct Say {
  std::string line;
};
struct ClearBlock {};
struct Delete {};  // answered by Deleted or DeletionRefused
struct Kill {};    // answered by Killed
struct Finish {};  // show the last lines, then stop the loop
struct LimitFinish {
  Duration limit;
  bool while_stuck;  // the limit starts again whenever lines have been read
};
struct StopNow {};

using Effect = std::variant<Say, ClearBlock, Delete, Kill, Finish, LimitFinish, StopNow>;
using Effects = std::vector<Effect>;

}  // namespace ending

struct EndingState {
  explicit EndingState(EndingPlan what) : plan(std::move(what)) {}

  EndingPlan plan;
  bool is_followed = false;
  ending::Changed known;  // of what is followed
  int signals = 0;
  Duration stopping_since{};  // monotonic
  bool is_stopping = false;   // the JobSet is being deleted by us
  bool is_ending = false;     // what is left is to show the last lines
  bool output_lost = false;
  int code = kRefused;

  int exit_code() const { return output_lost && code == kSucceeded ? int{kOutputLost} : code; }
  // The JobSet is still there, and will be.
  bool has_left_something() const { return is_followed && !is_stopping && !known.is_deleted; }
};

// `now` is monotonic.
ending::Effects reduce(EndingState& state, const ending::Event& what, Duration now);

}  // namespace muster::cli
