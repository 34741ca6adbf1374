// A web page must not be able to use the API by way of the browser that shows it (S2): neither
// under a host name of its own (DNS rebinding) nor across origins. Clients that are no browsers
// send none of these headers.
#pragma once

#include <string>
#include <vector>

#include "base/http.h"
#include "base/result.h"

namespace muster::server {

// kForbidden, for every method. No `allowed_hosts`: every Host is good.
Status check_browser(const http::Request& request, const std::vector<std::string>& allowed_hosts);

}  // namespace muster::server
