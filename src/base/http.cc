#include "base/http.h"

#include "base/ascii.h"

namespace muster::http {

std::string_view find_header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (equal_ignoring_case(key, name)) return value;
  return {};
}

}  // namespace muster::http
