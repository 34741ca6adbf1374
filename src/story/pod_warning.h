// What a Warning event says of a pod to who follows its JobSet. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "json/value.h"

namespace muster::story {

struct PodWarning {
  enum class Kind : std::uint8_t {
    kFault,   // it cannot be prepared, and waits; nothing but its events tells why
    kRemark,  // it runs without something that it asks for
  };
  std::string reason;
  std::string message;  // fit for a terminal
  Kind kind = Kind::kFault;
};

// Nothing if the pod tells it by itself.
std::optional<PodWarning> pod_warning(json::Value event);

}  // namespace muster::story
