// Waiting for an object to be as wanted.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/input/connection.h"
#include "json/value.h"

namespace muster::cli {

// Returns when the condition holds of the object, which is null while it is not there. kTimeout
// after that time, 0 meaning one look; nothing: waits for ever.
Status wait_until(Connection& connection, const api::Resource& resource, const std::string& ns,
                  const std::string& name, std::optional<Duration> timeout,
                  const std::function<bool(json::Value object)>& holds);

}  // namespace muster::cli
