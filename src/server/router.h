// From a request that may be answered to the handler that answers it.
#pragma once

#include "server/call.h"

namespace muster::server {

void route(const CallPtr& call);

}  // namespace muster::server
