#include "cli/startable.h"

#include <fmt/format.h>

namespace muster::cli {

Status check_commands(json::Value job_set) {
  Error error{.code = Code::kInvalid, .message = "a container has no command"};
  const auto sets = job_set.get({"spec", "replicatedJobs"}).items();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const json::Value pod = sets[i].get({"template", "spec", "template", "spec"});
    for (const std::string_view list : {"initContainers", "containers"}) {
      const auto containers = pod.get(list).items();
      for (std::size_t j = 0; j < containers.size(); ++j) {
        const json::Value container = containers[j];
        if (!container.get("command").empty() || !container.get("args").empty()) continue;
        error.causes.push_back(
            {.reason = "FieldValueRequired",
             .message = "a command is needed: this machine's own programs are run, and none is "
                        "taken from an image",
             .field = fmt::format("spec.replicatedJobs[{}].template.spec.template.spec.{}[{}]", i,
                                  list, j)});
      }
    }
  }
  if (error.causes.empty()) return {};
  return std::unexpected(std::move(error));
}

}  // namespace muster::cli
