#include "base/http.h"

#include <algorithm>

namespace muster::http {

std::string_view find_header(const Headers& headers, std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (const auto& [key, value] : headers)
    if (std::ranges::equal(key, name, {}, lower, lower)) return value;
  return {};
}

}  // namespace muster::http
