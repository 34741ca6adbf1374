// Objects that a pod refers to, as the agent's caches hold them now.
#pragma once

#include <string_view>

#include "json/value.h"

namespace muster::agent {

// A null Value means that there is none. Values live as long as the call that got them.
class Objects {
 public:
  virtual ~Objects() = default;
  virtual json::Value config_map(std::string_view ns, std::string_view name) const = 0;
  virtual json::Value secret(std::string_view ns, std::string_view name) const = 0;
  virtual json::Value volume_claim(std::string_view ns, std::string_view name) const = 0;
};

}  // namespace muster::agent
