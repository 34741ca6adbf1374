// What pods of a group run while they wait for each other (KEP-498), where containers are run. On
// one machine the node agent itself waits.
#pragma once

#include <string>
#include <vector>

namespace muster::controllers {

struct BarrierProgram {
  std::string image = "bash";
  // Empty: the loop of KEP-498. Another program finds the file /mnt/group-scheduling/started when
  // all have started, and GROUP_SIZE, TIMEOUT_SECONDS and COORDINATOR (a name to wait for) in its
  // environment; the last two may be missing.
  std::vector<std::string> command = {};
};

}  // namespace muster::controllers
