// The writing half of yaml.h.
#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/write.h"
#include "json/yaml.h"
#include "json/yaml_scalar.h"

namespace muster::json {
namespace {

// A reader gives up on implicit keys beyond 1024 letters; longer ones are written with "? ".
constexpr std::size_t kLongestImplicitKey = 512;

// Characters that only survive as escapes: controls, line breaks beyond ASCII, marks, and bytes
// that are no UTF-8 at all. Those that turn the direction of writing, so that a text reads as
// another, are shown for what they are.
bool needs_escape(std::string_view sequence) {
  const auto byte = static_cast<unsigned char>(sequence[0]);
  if (byte < 0x80) return byte < 0x20 || byte == 0x7F;
  return utf8_sequence_length(sequence) == 0 || (byte == 0xC2 && sequence < "\u00A1") ||
         (sequence >= "\u2028" && sequence <= "\u202E") ||
         (sequence >= "\u2066" && sequence <= "\u2069") || sequence == "\uFEFF" ||
         sequence >= "\xEF\xBF\xBE";  // U+FFFE, U+FFFF, and what lies beyond the first plane
}

// Calls visit(sequence) for each character; a stray byte counts as one.
template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_sequence_length(text), 1);
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

bool has_escapes(std::string_view text, bool line_breaks_too) {
  bool found = false;
  for_each_character(text, [&](std::string_view character) {
    found |= needs_escape(character) && (line_breaks_too || character != "\n");
  });
  return found;
}

// Whether some reader would take the bare text for something other than a string.
bool has_other_type(std::string_view text) {
  return resolve_plain_scalar(text) || is_unrepresentable_number(text) ||
         looks_like_timestamp(text) || looks_like_sexagesimal(text) || text == "<<";
}

// Whether a plain scalar reads back as this very string.
bool is_plain(std::string_view text) {
  if (has_other_type(text) || text == "=") return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  constexpr std::string_view kIndicators = " \t-?:,[]{}#&*!|>'\"%@`";
  const char first = text[0];
  const bool dash =
      first == '-' && text.size() > 1 && kIndicators.find(text[1]) == kIndicators.npos;
  if (kIndicators.find(first) != kIndicators.npos && !dash && !text.starts_with("--")) return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  return !text.contains(": ") && !text.contains(" #") && !has_escapes(text, true);
}

// Whether a literal block ("|") reads back as this very string.
bool is_literal_block(std::string_view text) {
  if (!text.contains('\n') || text.starts_with('\n') || text.starts_with(' ')) return false;
  return !text.ends_with("\n\n") && !text.ends_with(' ') && !text.contains(" \n") &&
         !has_escapes(text, false);
}

void append_double_quoted(std::string& out, std::string_view text) {
  out += '"';
  for_each_character(text, [&](std::string_view character) {
    const char c = character[0];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (!needs_escape(character)) {
      out += character;
    } else if (utf8_sequence_length(character) == 0) {
      out += "\\uFFFD";
    } else {
      const std::uint32_t code_point = decode_utf8(character);
      out += code_point > 0xFFFF ? fmt::format("\\U{:08X}", code_point)
                                 : fmt::format("\\u{:04X}", code_point);
    }
  });
  out += '"';
}

// On one line.
void append_string(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out += text;
  } else if (has_other_type(text) || has_escapes(text, true)) {
    append_double_quoted(out, text);
  } else {
    out += '\'';
    for (const char c : text) out += c == '\'' ? std::string_view("''") : std::string_view(&c, 1);
    out += '\'';
  }
}

class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  // A value at the start of a line or behind "- ": its first line goes here, the others are
  // indented.
  void write_block(Value value, std::size_t indent) {
    if (value.empty() || (!value.is_object() && !value.is_array()))
      return write_inline(value, indent);
    bool first = true;
    const auto start_line = [&] {
      if (!first) out_.append(indent, ' ');
      first = false;
    };
    for (const Member& member : value.members()) {
      start_line();
      const bool is_implicit = write_key(member.key, indent);
      write_member(member.value, indent, is_implicit);
    }
    for (const Value item : value.items()) {
      start_line();
      out_ += "- ";
      write_block(item, indent + 2);
    }
  }

 private:
  // False if the key was too long for the usual form.
  bool write_key(std::string_view key, std::size_t indent) {
    const std::size_t start = out_.size();
    append_string(out_, key);
    const bool is_implicit = out_.size() - start <= kLongestImplicitKey;
    if (!is_implicit) {
      out_.insert(start, "? ");
      out_ += '\n';
      out_.append(indent, ' ');
    }
    out_ += ':';
    return is_implicit;
  }

  // What follows a key. Lists stand as deep as their key, as kubectl has it.
  void write_member(Value value, std::size_t indent, bool is_implicit) {
    if (value.empty() || (!value.is_object() && !value.is_array())) {
      out_ += ' ';
      return write_inline(value, indent);
    }
    const std::size_t deeper = value.is_array() && is_implicit ? indent : indent + 2;
    out_ += '\n';
    out_.append(deeper, ' ');
    write_block(value, deeper);
  }

  void write_inline(Value value, std::size_t indent) {
    if (value.is_string()) {
      write_string_value(value.as_string(), indent);
    } else {
      write(out_, value);  // as JSON: scalars, {} and []
      out_ += '\n';
    }
  }

  void write_string_value(std::string_view text, std::size_t indent) {
    if (!is_literal_block(text)) {
      append_string(out_, text);
      out_ += '\n';
      return;
    }
    out_ += text.ends_with('\n') ? "|\n" : "|-\n";
    if (text.ends_with('\n')) text.remove_suffix(1);
    while (true) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) out_.append(indent + 2, ' ');
      out_.append(text.substr(0, end)).append("\n");
      if (end == text.size()) return;
      text.remove_prefix(end + 1);
    }
  }

  std::string& out_;
};

}  // namespace

std::string write_yaml(Value value) {
  std::string out;
  YamlWriter(out).write_block(value, 0);
  return out;
}

}  // namespace muster::json
