#include "engine/controller_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "controllers/set/controllers.h"

namespace muster::engine {

Result<std::set<std::string, std::less<>>> parse_controllers(std::string_view list) {
  std::set<std::string, std::less<>> chosen;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const bool remove = word.starts_with('-');
    if (remove) word.remove_prefix(1);
    if (word == "*") {
      chosen = remove ? std::set<std::string, std::less<>>{} : controllers::ControllerSet::names();
    } else if (word == "none") {
      chosen.clear();
    } else if (!controllers::ControllerSet::names().contains(word)) {
      return fail(Code::kInvalid,
                  fmt::format("--controllers: there is no controller \"{}\"; known are *, none, {}",
                              word, fmt::join(controllers::ControllerSet::names(), ", ")));
    } else if (remove) {
      chosen.erase(std::string(word));
    } else {
      chosen.emplace(word);
    }
  }
  return chosen;
}

}  // namespace muster::engine
