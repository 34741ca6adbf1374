// A transport to an API server over HTTPS.
#pragma once

#include <memory>

#include "client/kubeconfig.h"
#include "client/transport.h"

namespace muster::client {

// Fails if the certificates cannot be read. Nothing is sent yet.
Result<std::unique_ptr<Transport>> make_https_transport(Loop& loop, ServerConfig config);

}  // namespace muster::client
