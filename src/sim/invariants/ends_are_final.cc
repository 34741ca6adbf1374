#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

class EndsAreFinal final : public Rule {
 public:
  void judge(const Change& change, const Present&, Violations& violations) override {
    if (change.is_deletion()) return;
    if (change.set_before != nullptr) {
      for (const std::string_view type : {"Completed", "Failed"}) {
        if (api::is_condition_true(change.set_before->status.conditions, type) &&
            !api::is_condition_true(change.set->status.conditions, type))
          violations.push_back(change.broken(fmt::format("was {} and is no longer", type)));
      }
    }
    if (change.job_before != nullptr && change.job_before->is_finished() &&
        !change.job->is_finished())
      violations.push_back(change.broken("was finished and is no longer"));
  }
};

}  // namespace

std::unique_ptr<Rule> make_ends_are_final() { return std::make_unique<EndsAreFinal>(); }

}  // namespace muster::sim
