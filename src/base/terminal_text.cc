#include "base/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace muster {
namespace {

constexpr char kEscape = '\x1b';

// The length of a colour sequence ESC [ digits ; … m at the start of the text; 0 if there is none.
std::size_t colour_sequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// The length of any escape sequence at the start of the text, at least the ESC itself: CSI with its
// parameters, strings such as window titles up to their end, and two-letter ones.
std::size_t escape_sequence(std::string_view text) {
  if (text.size() < 2) return text.size();
  const char kind = text[1];
  if (kind == '[') {
    const auto last = std::ranges::find_if(text.substr(2), [](char c) { return c >= 0x40; });
    return std::min<std::size_t>(text.size(), static_cast<std::size_t>(last - text.begin()) + 1);
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
    const std::size_t bell = text.find('\a'), end = text.find("\x1b\\", 2);
    if (bell == text.npos && end == text.npos) return 2;  // never ends: what follows is text
    return bell < end ? bell + 1 : end + 2;
  }
  return 2;
}

// U+0080 to U+009F, and the marks that turn the direction of writing: U+202A to U+202E, U+2066 to
// U+2069.
bool is_hidden_control(std::string_view sequence) {
  if (sequence.size() == 2) return sequence[0] == '\xC2' && sequence[1] < '\xA0';
  return sequence.size() == 3 && ((sequence >= "\u202A" && sequence <= "\u202E") ||
                                  (sequence >= "\u2066" && sequence <= "\u2069"));
}

enum class Keep { kNothing, kLines, kColours };

// What stays of a character below 0x20 or DEL.
std::string_view kept_control(char c, Keep keep) {
  if (c == '\t') return keep == Keep::kNothing ? " " : "\t";
  if (c == '\n') return keep == Keep::kLines ? "\n" : " ";
  return "";
}

std::string clean(std::string_view text, Keep keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text[0];
    std::size_t length = 1;
    if (c == kEscape) {
      const std::size_t colour = keep == Keep::kColours ? colour_sequence(text) : 0;
      out += text.substr(0, colour);
      length = colour > 0 ? colour : escape_sequence(text);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      out += kept_control(c, keep);
    } else {
      length = utf8_sequence_length(text);
      if (length == 0) {
        out += "\uFFFD";
        length = 1;
      } else if (!is_hidden_control(text.substr(0, length))) {
        out += text.substr(0, length);
      }
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string plain_text(std::string_view text) { return clean(text, Keep::kNothing); }

std::string plain_lines(std::string_view text) { return clean(text, Keep::kLines); }

std::string log_text(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (const std::size_t written_over = line.rfind('\r'); written_over != line.npos)
    line.remove_prefix(written_over + 1);
  return clean(line, Keep::kColours);
}

std::string escaped_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(json.substr(i)), 1);
    const std::string_view letter = json.substr(i, length);
    if (letter == "\x7f" || is_hidden_control(letter)) {
      out += fmt::format("\\u{:04x}", decode_utf8(letter));
    } else {
      out += letter;
    }
    i += length;
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text), 1);
    width += length == 1 ? 1 : 2;
    text.remove_prefix(length);
  }
  return width;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  constexpr std::string_view kMore = "...";
  if (width_of(text) <= columns) return std::string(text);
  const std::size_t room = columns < kMore.size() ? columns : columns - kMore.size();
  std::size_t width = 0, end = 0;
  while (end < text.size()) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text.substr(end)), 1);
    width += length == 1 ? 1 : 2;
    if (width > room) break;
    end += length;
  }
  return std::string(text.substr(0, end)) +
         std::string(columns < kMore.size() ? std::string_view() : kMore);
}

int colour_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 31 + static_cast<int>(hash % 6);
}

std::string coloured(std::string_view text, int colour, bool wanted) {
  return wanted ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

}  // namespace muster
