// What can happen while a JobSet is followed, and what is to be done about it. Data only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/views/views.h"
#include "cli/follow/log_book.h"
#include "story/placement.h"
#include "story/pod_facts.h"
#include "story/pod_warning.h"

namespace muster::cli {

enum class FollowTimer : std::uint8_t {
  kTick,       // every second
  kShow,       // changes that came together are shown
  kLastWords,  // after the JobSet's end its pods have had their time to say something
};

namespace event {

// Objects. Kinds may come in any order.
struct JobSetSeen {
  api::JobSet set;
};
struct JobSetGone {};  // or another one has its name
struct PodSeen {
  story::PodFacts facts;
};
struct PodGone {
  std::string uid;
};
struct PodsComplete {};  // no pod is unknown that has been before the JobSet's end
struct PodWarned {
  std::string uid;
  story::PodWarning warning;
};
struct JobWarned {  // the pods of a Job are refused
  std::string job;
  std::string message;          // fit for a terminal
  std::optional<Time> created;  // the event
};
struct JobsRefused {  // the Jobs of a JobSet are invalid
  std::string job_set_uid;
  std::string message;  // fit for a terminal
};
struct RoomKnown {
  story::Room room;
};

// Logs. The texts are valid until reduce() returns.
struct LogLine {
  const LogRun& log;
  std::string_view time;
  std::string_view text;
};
struct LogEnded {
  const LogRun& log;
  const std::string& refusal;
};

struct TimerFired {
  FollowTimer timer;
};
struct Surroundings {
  std::size_t width = 80;  // of the terminal
  bool is_alone = false;   // nobody else uses the server: what they cannot change is not waited for

  bool operator==(const Surroundings&) const = default;
};
struct StopRequested {};  // the JobSet is being deleted by us: its end is no news

}  // namespace event

using FollowEvent =
    std::variant<event::JobSetSeen, event::JobSetGone, event::PodSeen, event::PodGone,
                 event::PodsComplete, event::PodWarned, event::JobWarned, event::JobsRefused,
                 event::RoomKnown, event::LogLine, event::LogEnded, event::TimerFired,
                 event::Surroundings, event::StopRequested>;

namespace effect {

struct PrintLog {
  std::string line;
};
struct Note {
  std::string line;
};
struct ShowBlock {
  std::vector<std::string> lines;
};
struct ClearBlock {};
struct ReadLog {
  LogRun log;
};
struct StartTimer {
  FollowTimer timer;
  Duration delay;
};
struct AskForRoom {};   // answered by RoomKnown
struct FindAllPods {};  // answered by PodSeen and PodsComplete
struct AskServer {};    // a server that went without a word is noticed by asking
struct End {            // once
  int exit_code;
};

}  // namespace effect

using FollowEffect =
    std::variant<effect::PrintLog, effect::Note, effect::ShowBlock, effect::ClearBlock,
                 effect::ReadLog, effect::StartTimer, effect::AskForRoom, effect::FindAllPods,
                 effect::AskServer, effect::End>;
using FollowEffects = std::vector<FollowEffect>;

}  // namespace muster::cli
