// The objects that a cluster is born with.
#pragma once

#include "base/result.h"
#include "server/api_server.h"

namespace muster::server {

// The namespaces default, kube-system, kube-public and kube-node-lease and the two system priority
// classes, as far as they are not there yet. Blocks until they are stored; call it before the
// server is reachable.
Status bootstrap(ApiServer& server);

}  // namespace muster::server
