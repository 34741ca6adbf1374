#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

class RestartsAreCounted final : public Rule {
 public:
  void judge(const Change& change, const Present&, Violations& violations) override {
    if (change.set == nullptr || change.is_deletion()) return;
    const api::JobSetStatus& status = change.set->status;
    if (change.set_before != nullptr) {
      const std::int32_t before = change.set_before->status.restarts;
      if (status.restarts < before) violations.push_back(change.broken("restarts went back"));
      if (status.restarts > before + 1)
        violations.push_back(change.broken("restarts skipped an attempt"));
    }
    const auto& policy = change.set->failure_policy;
    const std::int32_t allowed = policy ? policy->max_restarts : 0;
    if (status.restarts_count_towards_max > allowed) {
      violations.push_back(change.broken(fmt::format("{} counted restarts, {} are allowed",
                                                     status.restarts_count_towards_max, allowed)));
    }
  }
};

}  // namespace

std::unique_ptr<Rule> make_restarts_are_counted() { return std::make_unique<RestartsAreCounted>(); }

}  // namespace muster::sim
