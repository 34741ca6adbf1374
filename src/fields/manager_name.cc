#include <fmt/format.h>

#include "api/values/field_error.h"
#include "base/utf8.h"
#include "fields/managed_fields.h"

namespace muster::fields {
namespace {

constexpr std::size_t kMaxLength = 128;  // bytes

struct Character {
  std::string_view bytes;
  bool valid = false;
};

Character first_character(std::string_view text) {
  const std::size_t length = utf8_sequence_length(text);
  return {text.substr(0, std::max<std::size_t>(length, 1)), length > 0};
}

// Go's notion: what its quoting leaves as it is. Broken UTF-8 counts as U+FFFD, which is printable.
bool is_printable(const Character& character) {
  if (!character.valid || character.bytes == "\"" || character.bytes == "\\") return true;
  return api::quote(character.bytes).size() == character.bytes.size() + 2;
}

std::string from_user_agent(std::string_view user_agent) {
  std::string_view rest = user_agent.substr(0, user_agent.find('/'));
  std::string name;
  while (!rest.empty()) {
    const Character character = first_character(rest);
    rest.remove_prefix(character.bytes.size());
    if (!is_printable(character)) continue;
    const std::string_view bytes = character.valid ? character.bytes : "\uFFFD";
    if (name.size() + bytes.size() > kMaxLength) break;
    name += bytes;
  }
  return name;
}

}  // namespace

void validate_manager(std::string_view parameter, api::FieldErrors& errors) {
  const api::Path path("fieldManager");
  if (parameter.size() > kMaxLength) errors.too_long(path, static_cast<int>(kMaxLength));
  for (std::size_t at = 0; at < parameter.size();) {
    const Character character = first_character(parameter.substr(at));
    if (!is_printable(character)) {
      errors.invalid(path, parameter,
                     fmt::format("invalid character U+{:04X} (at position {})",
                                 decode_utf8(character.bytes), at));
    }
    at += character.bytes.size();
  }
}

std::string manager_name(std::string_view parameter, std::string_view user_agent) {
  if (!parameter.empty()) return std::string(parameter);
  std::string name = from_user_agent(user_agent);
  return name.empty() ? "unknown" : name;
}

}  // namespace muster::fields
