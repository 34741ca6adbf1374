// Which taints of nodes a pod bears, and for how long. Who places pods and who evicts them ask
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/views/views.h"
#include "json/value.h"

namespace muster::api {

struct Toleration {
  std::string key;  // empty: every taint's
  std::string value;
  std::string effect;                   // empty: every effect
  bool any_value = false;               // operator Exists; else the value must be equal
  std::optional<std::int64_t> seconds;  // of NoExecute: how long; absent: for ever

  bool operator==(const Toleration&) const = default;
};

std::vector<Toleration> read_tolerations(json::Value list);  // spec.tolerations

// The first one that bears the taint; null if none does.
const Toleration* find_toleration(std::span<const Toleration> tolerations, const Taint& taint);

}  // namespace muster::api
