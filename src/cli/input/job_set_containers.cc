#include "cli/input/job_set_containers.h"

#include <fmt/format.h>

namespace muster::cli {

using json::Value;

void for_each_container(Value job_set, const std::function<void(Value, const std::string&)>& look) {
  const auto sets = job_set.get({"spec", "replicatedJobs"}).items();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Value pod = sets[i].get({"template", "spec", "template", "spec"});
    for (const std::string_view list : {"initContainers", "containers"}) {
      const auto containers = pod.get(list).items();
      for (std::size_t j = 0; j < containers.size(); ++j) {
        look(containers[j],
             fmt::format("spec.replicatedJobs[{}].template.spec.template.spec.{}[{}]", i, list, j));
      }
    }
  }
}

}  // namespace muster::cli
