#include "api/values/field_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>

#include "api/schema/registry.h"
#include "base/utf8.h"
#include "json/write.h"

namespace muster::api {
namespace {

// What Go prints as it is: everything but controls, blanks other than the space, format characters
// and private use. Code points that Unicode has not assigned count as printable here, unlike in Go.
bool is_printable(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  static constexpr std::array<Range, 15> kUnprintable{{{0x00, 0x1F},
                                                       {0x7F, 0xA0},
                                                       {0xAD, 0xAD},
                                                       {0x600, 0x605},
                                                       {0x61C, 0x61C},
                                                       {0x6DD, 0x6DD},
                                                       {0x1680, 0x1680},
                                                       {0x180E, 0x180E},
                                                       {0x2000, 0x200F},
                                                       {0x2028, 0x202F},
                                                       {0x205F, 0x206F},
                                                       {0x3000, 0x3000},
                                                       {0xE000, 0xF8FF},
                                                       {0xFEFF, 0xFEFF},
                                                       {0xFFF0, 0xFFFB}}};
  if (code >= 0xE0000 || (code & 0xFFFEU) == 0xFFFE) return false;
  return std::ranges::none_of(kUnprintable,
                              [&](Range r) { return r.first <= code && code <= r.last; });
}

void append_escaped(std::string& out, std::uint32_t code) {
  static constexpr std::string_view kNamed = "abtnvfr";  // 7 to 13
  if (code >= 7 && code <= 13) {
    out += '\\';
    out += kNamed[code - 7];
  } else if (code < 0x80) {
    out += fmt::format("\\x{:02x}", code);
  } else if (code < 0x10000) {
    out += fmt::format("\\u{:04x}", code);
  } else {
    out += fmt::format("\\U{:08x}", code);
  }
}

// A double as Go's %v prints it: the shortest digits, with an exponent from 1e+06 up and 1e-05
// down.
std::string go_number(double number) {
  std::array<char, 32> scientific;
  const auto end = std::to_chars(scientific.data(), scientific.data() + scientific.size(), number,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(scientific.data(), static_cast<std::size_t>(end - scientific.data()));
  const auto mark = text.find('e');
  if (mark == std::string_view::npos) return std::string(text);  // inf, nan
  int exponent = 0;
  const auto digits = text.substr(text[mark + 1] == '+' ? mark + 2 : mark + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (exponent < -4 || exponent >= 6) return std::string(text);
  std::array<char, 64> fixed;
  const auto fixed_end =
      std::to_chars(fixed.data(), fixed.data() + fixed.size(), number, std::chars_format::fixed)
          .ptr;
  return {fixed.data(), fixed_end};
}

std::string with_detail(std::string body, std::string_view detail) {
  if (!detail.empty()) {
    body += ": ";
    body += detail;
  }
  return body;
}

std::string invalid_body(std::string_view quoted, std::string_view detail) {
  return with_detail(fmt::format("Invalid value: {}", quoted), detail);
}

}  // namespace

Path Path::child(std::string_view name) const {
  Path path;
  path.text_.reserve(text_.size() + 1 + name.size());
  path.text_ += text_;
  if (!text_.empty()) path.text_ += '.';
  path.text_ += name;
  return path;
}

Path Path::index(std::size_t i) const {
  Path path(*this);
  path.text_.append("[").append(std::to_string(i)).append("]");
  return path;
}

Path Path::key(std::string_view key) const {
  Path path(*this);
  path.text_ += fmt::format("[{}]", key);
  return path;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const auto sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (text[0] == '"' || text[0] == '\\') {
      out += '\\';
      out += text[0];
    } else if (is_printable(decode_utf8(sequence))) {
      out += sequence;
    } else {
      append_escaped(out, decode_utf8(sequence));
    }
    text.remove_prefix(sequence.size());
  }
  out += '"';
  return out;
}

std::string quote(json::Value value) {
  if (value.is_string()) return quote(value.as_string());
  if (value.kind() == json::Kind::kDouble) return go_number(value.as_double());
  return json::write(value);
}

void FieldErrors::add(std::string_view reason, const Path& path, std::string message) {
  // The object itself has no path; upstream prints the missing pointer.
  causes_.push_back({.reason = std::string(reason),
                     .message = std::move(message),
                     .field = path.text().empty() ? "<nil>" : path.text()});
}

void FieldErrors::append(FieldErrors other) {
  causes_.insert(causes_.end(), std::make_move_iterator(other.causes_.begin()),
                 std::make_move_iterator(other.causes_.end()));
}

void FieldErrors::required(const Path& path, std::string_view detail) {
  add("FieldValueRequired", path, with_detail("Required value", detail));
}

void FieldErrors::invalid(const Path& path, json::Value value, std::string_view detail) {
  add("FieldValueInvalid", path, invalid_body(quote(value), detail));
}

void FieldErrors::invalid(const Path& path, std::string_view text, std::string_view detail) {
  add("FieldValueInvalid", path, invalid_body(quote(text), detail));
}

void FieldErrors::type_invalid(const Path& path, json::Value value, std::string_view detail) {
  add("FieldValueTypeInvalid", path, invalid_body(quote(value), detail));
}

void FieldErrors::not_supported(const Path& path, std::string_view value,
                                std::span<const std::string_view> supported) {
  std::string detail;
  for (const std::string_view each : supported) {
    detail += detail.empty() ? "supported values: " : ", ";
    detail += quote(each);
  }
  add("FieldValueNotSupported", path,
      with_detail(fmt::format("Unsupported value: {}", quote(value)), detail));
}

void FieldErrors::duplicate(const Path& path, json::Value value) {
  add("FieldValueDuplicate", path, fmt::format("Duplicate value: {}", quote(value)));
}

void FieldErrors::duplicate(const Path& path, std::string_view text) {
  add("FieldValueDuplicate", path, fmt::format("Duplicate value: {}", quote(text)));
}

void FieldErrors::not_found(const Path& path, std::string_view value) {
  add("FieldValueNotFound", path, fmt::format("Not found: {}", quote(value)));
}

void FieldErrors::forbidden(const Path& path, std::string_view detail) {
  add("FieldValueForbidden", path, with_detail("Forbidden", detail));
}

void FieldErrors::too_long(const Path& path, int max_bytes) {
  add("FieldValueTooLong", path,
      fmt::format("Too long: may not be more than {} {}", max_bytes,
                  max_bytes == 1 ? "byte" : "bytes"));
}

void FieldErrors::too_many(const Path& path, std::size_t count, int max) {
  add("FieldValueTooMany", path,
      fmt::format("Too many: {}: must have at most {} {}", count, max,
                  max == 1 ? "item" : "items"));
}

Error FieldErrors::to_error(std::string_view qualified_kind, std::string_view group,
                            std::string_view kind, std::string_view name) const {
  std::vector<std::string_view> texts;
  std::set<std::string, std::less<>> seen;
  for (const Cause& cause : causes_) {
    const auto [text, added] = seen.insert(fmt::format("{}: {}", cause.field, cause.message));
    if (added) texts.push_back(*text);
  }
  std::string message = fmt::format("{} {} is invalid", qualified_kind, quote(name));
  if (texts.size() == 1) {
    message += fmt::format(": {}", texts[0]);
  } else if (texts.size() > 1) {
    message += fmt::format(": [{}]", fmt::join(texts, ", "));
  }
  return {.code = Code::kInvalid,
          .message = std::move(message),
          .name = std::string(name),
          .group = std::string(group),
          .kind = std::string(kind),
          .uid = {},
          .causes = causes_};
}

Error FieldErrors::to_error(const Resource& resource, std::string_view name) const {
  return to_error(resource.qualified_kind(), resource.gvk.group, resource.gvk.kind, name);
}

}  // namespace muster::api
