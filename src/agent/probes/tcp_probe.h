// A probe that succeeds as soon as somebody takes the connection.
#pragma once

#include <memory>
#include <string>

#include "agent/probes/conversation.h"

namespace muster::agent {

// `address` is host:port, for messages.
std::unique_ptr<Protocol> make_tcp_protocol(std::string address);

}  // namespace muster::agent
