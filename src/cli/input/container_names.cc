#include "cli/input/container_names.h"

#include <algorithm>

#include "api/views/job_set_names.h"
#include "base/terminal_text.h"

namespace muster::cli {

using json::Value;

void ContainerNames::add(Value pod_spec) {
  for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    for (const Value container : pod_spec.get(list).items()) {
      const std::string_view name = container.get("name").as_string();
      if (name != api::kBarrierContainer && !has(name))
        containers_.push_back({.name = std::string(name), .is_init = list == "initContainers"});
    }
  }
}

bool ContainerNames::has(std::string_view name) const {
  return std::ranges::find(containers_, name, &Container::name) != containers_.end();
}

std::string ContainerNames::text() const {
  std::string out;
  for (const bool init : {false, true}) {
    for (const Container& container : containers_) {
      if (container.is_init != init) continue;
      out += (out.empty() ? "" : ", ") + plain_text(container.name) + (init ? " (init)" : "");
    }
  }
  return out;
}

ContainerNames container_names(Value object) {
  ContainerNames names;
  names.add(object.get("spec"));
  names.add(object.get({"spec", "template", "spec"}));
  for (const Value entry : object.get({"spec", "replicatedJobs"}).items())
    names.add(entry.get({"template", "spec", "template", "spec"}));
  return names;
}

}  // namespace muster::cli
