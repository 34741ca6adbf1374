// What a request's header has to look like before anybody acts on it. Pure.
//
// The browser rules (S2): a page of another site must not reach the API through its visitor's
// browser, with any method. DNS rebinding shows in Host, a script in Origin or Sec-Fetch-Site.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/http.h"
#include "net/refusal.h"

namespace muster::net {

class RequestCheck {
 public:
  // Names and addresses without port; empty allows any.
  explicit RequestCheck(const std::vector<std::string>& allowed_hosts);

  std::optional<Refusal> operator()(const http::Request& request, bool is_http_1_0) const;

 private:
  std::vector<std::string> allowed_hosts_;  // canonical
};

}  // namespace muster::net
