// A probe that asks for the health of a gRPC service (grpc.health.v1.Health/Check) over plain
// HTTP/2: one call, one small answer, nothing else of the protocol.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "agent/probes/conversation.h"

namespace muster::agent {

struct GrpcCheck {
  std::string address;  // host:port
  std::string service;
  std::chrono::seconds timeout{1};
  std::string user_agent;
};

std::unique_ptr<Protocol> make_grpc_protocol(GrpcCheck check);

}  // namespace muster::agent
