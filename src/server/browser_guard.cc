#include "server/browser_guard.h"

#include <algorithm>

namespace muster::server {
namespace {

// "[::1]:6443" and "localhost:6443" without their port.
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.rfind(':'));
}

}  // namespace

Status check_browser(const http::Request& request, const std::vector<std::string>& allowed_hosts) {
  const std::string_view host = http::find_header(request.headers, "Host");
  if (!allowed_hosts.empty() &&
      std::ranges::find(allowed_hosts, host_name(host)) == allowed_hosts.end()) {
    return fail(Code::kForbidden,
                fmt::format("forbidden: this server does not answer under the name \"{}\"",
                            host_name(host)));
  }
  const std::string_view site = http::find_header(request.headers, "Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return fail(Code::kForbidden, "forbidden: requests from other sites are not answered");
  }
  const std::string_view origin = http::find_header(request.headers, "Origin");
  if (!origin.empty() && origin != fmt::format("https://{}", host) &&
      origin != fmt::format("http://{}", host)) {
    return fail(Code::kForbidden, "forbidden: requests from other origins are not answered");
  }
  return {};
}

}  // namespace muster::server
