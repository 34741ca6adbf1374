// A transport to an API server over HTTPS.
#pragma once

#include <memory>

#include "client/kubeconfig.h"
#include "client/transport.h"

namespace muster::client {

struct HttpsOptions {
  // What comes within this time of each other is taken in together: fewer wake-ups, later answers.
  Duration gather = {};
  std::size_t max_connections = 256;  // that requests share
  std::size_t max_streams = 256;      // watches and logs, each on a connection of its own
};

// Fails if the certificates cannot be read. Nothing is sent yet.
Result<std::unique_ptr<Transport>> make_https_transport(Loop& loop, ServerConfig config,
                                                        HttpsOptions options = {});

}  // namespace muster::client
