#include "agent/lifecycle/memory.h"

#include <algorithm>

namespace muster::agent {

bool PodMemory::any_alive() const {
  return std::ranges::any_of(containers, [](const auto& c) { return c.run && c.run->alive(); });
}

PodMemory fresh_memory(const PodView& pod) {
  PodMemory memory;
  memory.containers.resize(pod.containers.size());
  return memory;
}

bool is_initialized(const PodView& pod, const PodMemory& memory) {
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    const auto& run = memory.containers[i].run;
    if (pod.containers[i].role == Role::kMain && run && !run->held) return true;
  }
  return false;
}

bool is_started(const ContainerView& container, const ContainerMemory& memory) {
  const auto& run = memory.run;
  if (!run || !run->running()) return false;
  return !container.has_startup_probe || run->startup == true;
}

Run* find_run(const PodView& pod, PodMemory& memory, std::string_view container, int number) {
  const auto at = pod.find(container);
  if (!at || !memory.containers[*at].run) return nullptr;
  Run& run = *memory.containers[*at].run;
  return run.number == number ? &run : nullptr;
}

}  // namespace muster::agent
