#include "scheduler/walk.h"

#include <utility>

#include "scheduler/place.h"
#include "scheduler/trial.h"

namespace muster::scheduler {
namespace {

class Walker {
 public:
  Walker(const WaitingLine& line, Cluster& cluster, Walk walk, const WalkQuestions& questions)
      : line_(line), cluster_(cluster), trial_(cluster), questions_(questions) {
    turn_.walk = std::move(walk);
    turn_.fresh_left = line.fresh().size();
    for (const std::string& name : turn_.walk.nodes)
      if (const Room* const room = cluster.find(name)) rooms_.push_back(room);
  }

  WalkTurn go(std::size_t max_looks) && {
    const WaitingLine::Places& way = rooms_.empty() ? line_.fresh() : line_.all();
    auto at = turn_.walk.next ? way.lower_bound(*turn_.walk.next) : way.begin();
    while (at != way.end() && turn_.looks < max_looks) {
      if (all_refused()) {
        at = way.end();
        break;
      }
      consider(*at->second);
      ++at;
    }
    turn_.walk.next.reset();
    if (at != way.end()) turn_.walk.next = at->first;
    return std::move(turn_);
  }

 private:
  void consider(const Pod& pod) {
    const bool fresh = line_.is_fresh(pod);
    const auto known = turn_.walk.refused.find(Kin::of(pod));
    const bool kin_was_refused = known != turn_.walk.refused.end();
    turn_.looks += kin_was_refused ? 1 : 1 + (fresh ? cluster_.nodes() : rooms_).size();
    if (kin_was_refused && !fresh) return;
    Placement placement;
    if (kin_was_refused && !known->second.empty()) {
      placement.refusal = known->second;
    } else {
      placement = place_now(pod, fresh);
    }
    if (fresh) --turn_.fresh_left;
    if (!placement.node.empty()) return give(pod, std::move(placement.node));
    if (shares_answers(pod)) turn_.walk.refused[Kin::of(pod)] = placement.refusal;
    if (fresh) turn_.refused.push_back({&pod, std::move(placement.refusal)});
  }

  Placement place_now(const Pod& pod, bool fresh) const {
    const Reserve reserve = questions_.leaves_reserve(pod) ? Reserve::kLeaves : Reserve::kMayUse;
    if (fresh) return place(cluster_, pod, reserve);
    return {.node = place_among(cluster_, pod, rooms_, reserve), .refusal = {}};
  }

  void give(const Pod& pod, std::string node) {
    ++leaving_[Kin::of(pod)];
    if (questions_.goes(pod)) {
      turn_.going.push_back(&pod);
      return;
    }
    trial_.add(pod, node);
    turn_.given.push_back({&pod, std::move(node)});
  }

  bool shares_answers(const Pod& pod) const {
    const Wishes& wishes = pod.wishes;
    return wishes.near.empty() && wishes.apart.empty() && wishes.spread.empty() &&
           cluster_.repelling_keys().empty();
  }

  // No pod of the line is left to be looked at in this walk.
  bool all_refused() const {
    if (turn_.fresh_left > 0) return false;
    const auto& refused = turn_.walk.refused;
    std::size_t settled = 0;
    for (const auto& [kin, why] : refused) settled += line_.members(kin);
    for (const auto& [kin, count] : leaving_)
      if (!refused.contains(kin)) settled += count;
    return settled == line_.all().size();
  }

  const WaitingLine& line_;
  Cluster& cluster_;
  Trial trial_;
  const WalkQuestions& questions_;
  std::vector<const Room*> rooms_;
  std::map<Kin, std::size_t> leaving_;  // in this turn
  WalkTurn turn_;
};

}  // namespace

WalkTurn walk_on(const WaitingLine& line, Cluster& cluster, Walk walk,
                 const WalkQuestions& questions, std::size_t max_looks) {
  return Walker(line, cluster, std::move(walk), questions).go(max_looks);
}

}  // namespace muster::scheduler
