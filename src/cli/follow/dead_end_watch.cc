#include "cli/follow/dead_end_watch.h"

namespace muster::cli {

DeadEndWatch::Verdict DeadEndWatch::look(const std::optional<story::DeadEnd>& end, Time now) {
  if (!end) {
    pod_.clear();
    return Verdict::kGoOn;
  }
  if (end->pod != pod_) {
    pod_ = end->pod;
    since_ = now;
    return Verdict::kSayWhen;
  }
  return now - since_ >= end->grace ? Verdict::kGiveUp : Verdict::kGoOn;
}

}  // namespace muster::cli
