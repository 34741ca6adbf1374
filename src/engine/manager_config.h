// The configuration file of the upstream JobSet manager (config.jobset.x-k8s.io/v1alpha1), so that
// `muster operator --config` takes over from it as it is. What a file leaves out stays unset.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster::engine {

struct ManagerConfig {
  std::optional<std::string> webhook_listen;  // ADDRESS:PORT
  std::optional<std::string> health_listen;   // likewise; metrics are served there, too
  std::optional<bool> leader_elect;
  std::string lease_name;
  std::string lease_namespace;
  std::optional<Duration> lease_duration, renew_deadline, retry_period;
  std::string feature_gates;  // A=true,B=false
};

// Strict: an unknown or duplicate field is an error, and so is a setting that muster cannot honour
// (certificates from a directory, chosen cipher suites). Errors name the field.
Result<ManagerConfig> parse_manager_config(std::string_view yaml);

}  // namespace muster::engine
