// An answer that the transport gives by itself, with the body of a Kubernetes Status.
#pragma once

#include <string>

#include "base/http.h"

namespace muster::net {

// The texts are ours: nothing that a peer sent is repeated to it, so nothing needs escaping.
struct Refusal {
  int status = 400;
  std::string reason;  // of the Status, e.g. BadRequest; may be empty
  std::string message;
};

http::Response response_of(const Refusal& refusal);

}  // namespace muster::net
