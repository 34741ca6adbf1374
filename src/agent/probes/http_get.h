// GET as probes and hooks do it: one request on a connection of its own, redirects within the same
// host followed, certificates not verified, no more of the body read than anybody wants to see.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/probes/attempt.h"
#include "base/http.h"
#include "base/loop.h"
#include "json/value.h"
#include "net/http_client.h"

namespace muster::agent {

struct HttpGet {
  std::string url;
  http::Headers headers;
  std::string host;  // for the Host header; empty: that of the URL
};

// From an httpGet action. Fails if the port has a name that the container does not know.
Result<HttpGet> http_get_of(json::Value action, json::Value container, std::string_view pod_ip,
                            std::string_view user_agent);

struct HttpAnswer {
  int status = 0;    // a redirect if it leads elsewhere, or nowhere
  std::string body;  // its beginning
};

enum class HttpFault : std::uint8_t {
  kNoAnswer,   // text: as Go's client puts it
  kBrokenBody  // the answer began and did not end
};
struct HttpFailure {
  HttpFault fault = HttpFault::kNoAnswer;
  std::string text;
};

// The client posts its callbacks to this loop. A timeout of zero is none.
using HttpGetDone = std::move_only_function<void(std::expected<HttpAnswer, HttpFailure>)>;
std::unique_ptr<Attempt> start_http_get(Loop& loop, net::HttpClient& client, HttpGet get,
                                        Duration timeout, HttpGetDone done);

// The port of an action: a number, or the name of one of the container's ports.
Result<std::uint16_t> probe_port(json::Value port, json::Value container);

// host:port, with brackets where the host needs them.
std::string host_and_port(std::string_view host, std::uint16_t port);

}  // namespace muster::agent
