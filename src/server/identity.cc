#include "server/identity.h"

#include <algorithm>

namespace muster::server {

bool User::in_group(std::string_view group) const {
  return std::ranges::find(groups, group) != groups.end();
}

User master(std::string name) {
  return {.name = std::move(name),
          .uid = "",
          .groups = {std::string(kMasters), std::string(kAuthenticated)},
          .extra = {}};
}

}  // namespace muster::server
