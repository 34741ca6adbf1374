#include <algorithm>
#include <set>

#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

class OwnersExist final : public Rule {
 public:
  void judge_rest(const std::vector<store::ObjectPtr>& all, Violations& violations) override {
    std::set<std::string> uids;
    for (const store::ObjectPtr& object : all) uids.insert(object->meta().uid);
    for (const store::ObjectPtr& object : all) {
      const auto& owners = object->meta().owners;
      if (owners.empty() || object->meta().deletion_time) continue;
      if (std::ranges::none_of(owners, [&](const auto& owner) { return uids.contains(owner.uid); }))
        violations.push_back(fmt::format("{} has outlived its owner", object->path()));
    }
  }
};

}  // namespace

std::unique_ptr<Rule> make_owners_exist() { return std::make_unique<OwnersExist>(); }

}  // namespace muster::sim
