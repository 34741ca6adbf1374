// How a request asks for a WebSocket (RFC 6455, section 4.2.1). Pure; the frames are net's.
#pragma once

#include <string_view>
#include <vector>

#include "base/http.h"
#include "base/result.h"

namespace muster::http {

// Whether the connection is to become something else, and a WebSocket in particular.
bool wants_upgrade(const Request& request);
bool wants_websocket(const Request& request);

// What is wrong with a request that wants one (kBadRequest).
Status check_websocket_request(const Request& request);

// The subprotocols that are offered, the client's favourite first.
std::vector<std::string_view> offered_protocols(const Request& request);

}  // namespace muster::http
