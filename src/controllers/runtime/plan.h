// What a controller decided: data, printable, without any effect of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/client.h"

namespace muster::controllers {

struct Plan {
  std::vector<client::Operation>
      writes;                          // carried out in this order; the first failure ends the pass
  std::optional<Duration> look_again;  // even if nothing changes until then
  std::string reason;                  // why, for the decision log

  bool empty() const { return writes.empty(); }
  std::string text() const;
};

}  // namespace muster::controllers
