// A request from inside the process whose caller waits for the answer: at start-up and in tests,
// never on an I/O thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/http.h"
#include "server/api_server.h"

namespace muster::server {

struct Reply {
  int status = 0;
  http::Headers headers;
  std::string body;
};

// Sends the request as `user` and runs what the server posts until it has answered. Streams are not
// understood.
Reply ask(ApiServer& server, http::Request request, User user);

}  // namespace muster::server
