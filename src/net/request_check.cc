#include "net/request_check.h"

#include <algorithm>

#include "base/ascii.h"
#include "net/names.h"

namespace muster::net {
namespace {

Refusal bad_request(std::string message) { return {400, "BadRequest", std::move(message)}; }
Refusal forbidden(std::string message) { return {403, "Forbidden", std::move(message)}; }

std::size_t count_of(const http::Headers& headers, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count_if(headers, [&](const http::Header& header) {
    return equal_ignoring_case(header.first, name);
  }));
}

// "https://name:port" of the Host that was asked for, and nothing else. "null" is foreign.
bool is_own_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "https://";
  return origin.size() > kScheme.size() &&
         equal_ignoring_case(origin.substr(0, kScheme.size()), kScheme) &&
         equal_ignoring_case(origin.substr(kScheme.size()), host);
}

// "none" is what the user typed or bookmarked; same-site is foreign too: a sibling domain or
// another port of this host is not us.
bool is_own_fetch_site(std::string_view site) { return site == "same-origin" || site == "none"; }

}  // namespace

RequestCheck::RequestCheck(const std::vector<std::string>& allowed_hosts) {
  for (const std::string& host : allowed_hosts) allowed_hosts_.push_back(canonical_name(host));
}

std::optional<Refusal> RequestCheck::operator()(const http::Request& request,
                                                bool is_http_1_0) const {
  if (!request.target.starts_with('/') && request.target != "*") {
    return bad_request("the request target has to be a path");
  }
  const std::size_t hosts = count_of(request.headers, "Host");
  if (hosts > 1 || (hosts == 0 && !(is_http_1_0 && allowed_hosts_.empty()))) {
    return bad_request("a request has exactly one Host header");
  }
  const std::string_view authority = http::find_header(request.headers, "Host");
  const std::string host = host_of_authority(authority);
  if (hosts == 1 && host.empty()) return bad_request("malformed Host header");
  if (!allowed_hosts_.empty() && std::ranges::count(allowed_hosts_, host) == 0) {
    return Refusal{421, "", "the Host header names a host that is not served here"};
  }
  for (const auto& [name, value] : request.headers) {
    if (equal_ignoring_case(name, "Origin") && !is_own_origin(value, authority)) {
      return forbidden("requests from pages of another origin are not served");
    }
    if (equal_ignoring_case(name, "Sec-Fetch-Site") && !is_own_fetch_site(value)) {
      return forbidden("requests from pages of another site are not served");
    }
  }
  return std::nullopt;
}

}  // namespace muster::net
