#include <fmt/format.h>

#include "api/field_error.h"
#include "fields/managed_fields.h"
#include "json/utf8.h"

namespace muster::fields {
namespace {

constexpr std::size_t kMaxLength = 128;  // bytes

struct Character {
  std::string_view bytes;
  bool valid = false;
};

Character first_character(std::string_view text) {
  const std::size_t length = json::utf8_sequence_length(text);
  return {text.substr(0, std::max<std::size_t>(length, 1)), length > 0};
}

// Go's notion: what its quoting leaves as it is. Broken UTF-8 counts as U+FFFD, which is printable.
bool is_printable(const Character& character) {
  if (!character.valid || character.bytes == "\"" || character.bytes == "\\") return true;
  return api::quote(character.bytes).size() == character.bytes.size() + 2;
}

std::uint32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  std::uint32_t code = lead & (0xFFU >> (sequence.size() + 1));
  for (const char c : sequence.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

Status check(std::string_view parameter) {
  api::FieldErrors errors;
  const api::Path path("fieldManager");
  if (parameter.size() > kMaxLength) errors.too_long(path, static_cast<int>(kMaxLength));
  for (std::size_t at = 0; at < parameter.size();) {
    const Character character = first_character(parameter.substr(at));
    if (!is_printable(character)) {
      errors.invalid(path, parameter,
                     fmt::format("invalid character U+{:04X} (at position {})",
                                 code_point(character.bytes), at));
    }
    at += character.bytes.size();
  }
  if (errors.empty()) return {};
  return std::unexpected(errors.to_error("", "", "", ""));
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

Result<std::string> manager_name(std::string_view parameter, std::string_view user_agent) {
  MUSTER_CHECK(check(parameter));
  if (!parameter.empty()) return std::string(parameter);
  std::string name = from_user_agent(user_agent);
  if (name.empty()) name = "unknown";
  return name;
}

}  // namespace muster::fields
