#include <set>

#include "api/views/job_names.h"
#include "sim/invariants/rules.h"

namespace muster::sim {
namespace {

class OnePodPerIndex final : public Rule {
 public:
  void judge(const Change& change, const Present&, Violations& violations) override {
    if (change.pod == nullptr) return;
    const api::Pod& pod = *change.pod;
    const auto* owner = pod.meta.controller();
    const auto index = pod.meta.label(api::kCompletionIndex);
    if (owner == nullptr || !index) return;
    auto& live = live_[{owner->uid, std::string(*index)}];
    if (change.is_deletion() || pod.is_terminal() || pod.meta.deletion_time) {
      live.erase(pod.meta.uid);
    } else if (live.insert(pod.meta.uid).second && live.size() > 1) {
      violations.push_back(
          change.broken(fmt::format("{} pods of index {} live at once", live.size(), *index)));
    }
  }

 private:
  using JobAndIndex = std::pair<std::string, std::string>;
  std::map<JobAndIndex, std::set<std::string>> live_;  // uids
};

}  // namespace

std::unique_ptr<Rule> make_one_pod_per_index() { return std::make_unique<OnePodPerIndex>(); }

}  // namespace muster::sim
