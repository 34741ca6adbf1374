// Feature gates by upstream's names, with their defaults.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::admission {

struct FeatureGates {
  FeatureGates();  // the defaults
  // "A=true,B=false"; fails naming an unknown gate, a bad value or a gate that cannot be changed,
  // and then changes nothing.
  Status set(std::string_view list);
  bool enabled(std::string_view gate) const;  // asserts that the gate is known

 private:
  std::map<std::string, bool, std::less<>> gates_;
};

}  // namespace muster::admission
