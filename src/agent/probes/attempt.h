// One execution of a probe's handler, or of a hook's.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace muster::agent {

// No more is kept of what a probe is told, as a kubelet does.
inline constexpr std::size_t kMaxProbeOutput = 10 * 1024;

enum class ProbeResult : std::uint8_t { kSuccess, kWarning, kFailure, kUnknown };

struct ProbeOutcome {
  ProbeResult result = ProbeResult::kSuccess;
  std::string text;  // of the event
  // It could not be executed, which says nothing about the container.
  bool errored = false;
};

// Destroying it abandons what is under way: `done` is not called any more. `done` is called once,
// on the loop, never before the call that made the attempt returns; it may destroy the attempt.
class Attempt {
 public:
  virtual ~Attempt() = default;
};

using ProbeDone = std::move_only_function<void(ProbeOutcome)>;

}  // namespace muster::agent
