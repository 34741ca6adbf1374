// A JobSet that is followed, as data, and what each event means for it. Pure: it reads no clock,
// terminal or server; follow.h is the driver that does.
//
// Events may come in any order (a pod before its JobSet, a warning before its pod, the JobSet's end
// before that of its pods): the lines are complete all the same, and a line about something that is
// told by several events comes once.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/follow/dead_end_watch.h"
#include "cli/follow/follow_event.h"
#include "cli/follow/log_book.h"
#include "cli/follow/pod_book.h"
#include "cli/follow/stage_news.h"

namespace muster::cli {

// What is followed, and how. Does not change.
struct FollowPlan {
  std::string job_set;
  std::string uid;  // of the JobSet: one of the same name that was there before is another
  LogOptions logs;
  std::string keys;            // what may be pressed, for the block
  std::string exit_code_from;  // RJOB[/JOB[/POD]]; empty: of the JobSet's end
  std::optional<Duration> timeout;
  std::string resume_command;  // what starts a suspended JobSet
  bool has_block = false;
  bool status_colours = false;
  Time begun{};
};

struct FollowState {
  explicit FollowState(FollowPlan what);

  FollowPlan plan;
  event::Surroundings surroundings;
  std::optional<api::JobSet> set;
  PodBook pods;
  std::vector<event::JobWarned> early_jobs;  // before the JobSet that names its Jobs
  LogBook logs;
  StageNews stages;
  DeadEndWatch dead_end;
  std::set<std::string> said;  // remarks that are said once
  int ticks = 0;
  bool show_is_due = false;

  // From the JobSet's end to ours: pods and logs may have something to say yet.
  bool outcome_seen = false;
  bool all_pods_known = false;
  bool last_words_waited = false;

  bool deletion_expected = false;
  bool deleted = false;
  bool is_over = false;  // End has been told; lines of logs and pods may still come
};

FollowEffects reduce(FollowState& state, const FollowEvent& what, Time now);

}  // namespace muster::cli
