#include "api/schema.h"

#include <algorithm>

namespace muster::api {

int Schema::field_position(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name, name, {}, [this](std::uint16_t at) { return std::string_view(fields[at].name); });
  return found != by_name.end() && fields[*found].name == name ? *found : -1;
}

const Field* Schema::field(std::string_view name) const {
  const int at = field_position(name);
  return at < 0 ? nullptr : &fields[static_cast<std::size_t>(at)];
}

const json::MergeRules* Schema::member(std::string_view key) const {
  if (shape == Shape::kMap) return elem;
  const Field* const found = field(key);
  return found == nullptr ? nullptr : found->schema;
}

}  // namespace muster::api
