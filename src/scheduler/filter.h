// Whether a pod may go to a node: kube-scheduler's rules, in its order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/cluster.h"
#include "scheduler/spread.h"

namespace muster::scheduler {

// The first rule that says no.
enum class Refusal : std::uint8_t {
  kNone,
  kUnschedulable,
  kTaint,
  kNodeAffinity,
  kPorts,
  kResources,
  kSpread,
  kOutsideOfSpread,
  kPodAffinity,
  kPodAntiAffinity,
  kOthersAntiAffinity,
};

// In kube-scheduler's words; empty for kResources, which has several reasons at once.
std::string_view reason_of(Refusal refusal);
// Whether the rule could say yes if other pods were gone.
bool is_due_to_pods(Refusal refusal);

// Some of a node's places for pods stay free of those that leave the reserve.
enum class Reserve : std::uint8_t { kMayUse, kLeaves };
constexpr std::int64_t reserve_of(std::int64_t places) {
  constexpr std::int64_t kShare = 20;
  return places / kShare;
}
bool has_room(const Room& room, const Pod& pod, Reserve reserve);

// The rules for one pod. Remembers what it found out about domains: made for one placement, used
// while the cluster stays as it is.
class Filter {
 public:
  Filter(const Cluster& cluster, const Pod& pod, Reserve reserve);

  Refusal check(const Room& room);

 private:
  using Answers = std::unordered_map<const Domain*, bool>;

  bool has_free_ports(const Room& room) const;
  Refusal check_spread(const Room& room);
  bool is_near_all(const Room& room);
  bool is_near(const Domain& domain);
  bool is_apart_from_all(const Room& room);
  bool is_borne_by_others(const Room& room);
  bool is_kept_away(const Domain& domain, const std::string& key) const;
  bool is_wanted_company(const Pod& other) const;
  bool has_company_anywhere() const;

  const Cluster& cluster_;
  const Pod& pod_;
  Reserve reserve_;
  bool company_exists_ = false;   // somewhere
  bool is_own_company_ = false;   // it would satisfy its own terms: the first of its kind may start
  std::optional<Spread> spread_;  // made when first asked for
  Answers near_;
  std::vector<Answers> apart_;                               // by term
  std::unordered_map<std::string_view, Answers> kept_away_;  // by topology key
};

}  // namespace muster::scheduler
