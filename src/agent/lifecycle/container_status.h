// The status of one container (pod-lifecycle 1.5), as data. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/memory.h"
#include "json/value.h"

namespace muster::agent {

struct Terminated {
  int code = 0;
  std::string reason;
  std::string message;
  std::optional<Time> started;  // nothing: never
  std::optional<Time> finished;
  std::string id;
};

struct ContainerStatus {
  enum class State : std::uint8_t { kWaiting, kRunning, kTerminated };
  State state = State::kWaiting;
  std::string waiting_reason;
  std::string waiting_message;
  std::optional<Time> started_at;  // kRunning
  Terminated terminated;           // kTerminated
  std::optional<Terminated> last;
  bool ready = false;
  bool started = false;
  int restart_count = 0;
  std::string id;

  bool running() const { return state == State::kRunning; }
  bool is_terminated() const { return state == State::kTerminated; }
  bool waiting() const { return state == State::kWaiting; }
};

// One per container, in the order of the view.
std::vector<ContainerStatus> container_statuses(const PodView& pod, const PodMemory& memory);

// As it stands in the pod's status. `spec` is the container's.
json::Value write_container_status(json::Arena& arena, const ContainerView& view,
                                   const ContainerStatus& status, json::Value spec);

inline constexpr std::string_view kContainerIdScheme = "muster://";

}  // namespace muster::agent
