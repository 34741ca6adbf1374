// Where the pods of all JobSets share one machine, and so its ports.
#pragma once

#include <functional>

namespace muster::controllers {

// Whether nobody has the port now. Empty where every pod has ports of its own.
using PortIsFree = std::function<bool(int port)>;

}  // namespace muster::controllers
