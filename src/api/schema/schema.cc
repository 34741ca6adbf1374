#include "api/schema/schema.h"

#include <bit>

namespace muster::api {

// Four bytes tell most names of a struct apart, whatever their length.
std::size_t FieldIndex::home_of(std::string_view name) const {
  constexpr std::uint32_t kOdd = 0x9e3779b1;
  if (name.empty()) return 0;
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(name[i])};
  };
  const std::uint32_t sample = static_cast<std::uint32_t>(name.size()) ^ byte(0) << 8 ^
                               byte(name.size() / 2) << 16 ^ byte(name.size() - 1) << 24;
  return (sample * kOdd >> 16) & (slots_.size() - 1);
}

FieldIndex::FieldIndex(const std::vector<Field>& fields)
    : slots_(std::bit_ceil(2 * fields.size())) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::size_t at = home_of(fields[i].name);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint16_t>(i + 1);
  }
}

int FieldIndex::find(const std::vector<Field>& fields, std::string_view name) const {
  if (slots_.empty()) return -1;
  for (std::size_t at = home_of(name); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    const int found = slots_[at] - 1;
    if (fields[static_cast<std::size_t>(found)].name == name) return found;
  }
  return -1;
}

int Schema::field_position(std::string_view name) const { return index.find(fields, name); }

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
