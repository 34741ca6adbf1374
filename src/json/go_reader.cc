#include "json/go_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/utf8.h"
#include "json/path.h"

namespace muster::json {
namespace {

// A byte as Go quotes it in its messages: bytes from 0x80 are shown as the Latin-1 letter.
std::string quoted(char c) {
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '\'':
      return R"('\'')";
    case '\\':
      return R"('\\')";
    case '\a':
      return R"('\a')";
    case '\b':
      return R"('\b')";
    case '\f':
      return R"('\f')";
    case '\n':
      return R"('\n')";
    case '\r':
      return R"('\r')";
    case '\t':
      return R"('\t')";
    case '\v':
      return R"('\v')";
    default:
      break;
  }
  if (byte < 0x20 || byte == 0x7F) return fmt::format("'\\x{:02x}'", byte);
  if (byte < 0x80) return fmt::format("'{}'", c);
  if (byte <= 0xA0 || byte == 0xAD) return fmt::format("'\\u{:04x}'", byte);
  std::string text = "'";
  append_utf8(text, byte);
  return text += '\'';
}

// A recursive descent over the text. The first fault is kept in error_, and every function returns
// at once when there is one.
class Reader {
 public:
  Reader(Arena& arena, std::string_view text, ParseReport* report)
      : arena_(arena), text_(text), report_(report) {}

  Result<Value> document() {
    const Value root = value(nullptr, 0);
    skip_space();
    if (!failed() && at_ < text_.size()) refuse("after top-level value");
    if (failed()) return fail(Code::kBadRequest, error_);
    if (!out_of_range_.empty())
      return fail(Code::kBadRequest,
                  fmt::format("json: cannot unmarshal number {} into Go value of "
                              "type float64",
                              out_of_range_));
    return root;
  }

 private:
  bool failed() const { return !error_.empty(); }

  Value fault(std::string message) {
    if (!failed()) error_ = std::move(message);
    return Value();
  }

  // Complains about the character at hand, or about its absence.
  Value refuse(std::string_view where) {
    if (at_ >= text_.size()) return fault("unexpected end of JSON input");
    return fault(fmt::format("invalid character {} {}", quoted(text_[at_]), where));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool more() const { return at_ < text_.size(); }

  bool take(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Value value(const PathFrame* path, int depth) {
    skip_space();
    switch (peek()) {
      case '{':
        return object(path, depth + 1);
      case '[':
        return array(path, depth + 1);
      case '"':
        return Value::string(arena_, string());
      case 't':
        return literal("true", Value::of(true));
      case 'f':
        return literal("false", Value::of(false));
      case 'n':
        return literal("null", Value());
      default:
        return number();
    }
  }

  Value object(const PathFrame* path, int depth) {
    if (depth > kMaxDepth) return fault("exceeded max depth");
    ++at_;
    const Value made = Value::object(arena_);
    skip_space();
    if (take('}')) return made;
    while (!failed()) {
      skip_space();
      if (peek() != '"') return refuse("looking for beginning of object key string");
      const std::string key = string();
      skip_space();
      if (failed()) break;
      if (!take(':')) return refuse("after object key");
      member(made, key, path, depth);
      skip_space();
      if (failed() || take('}')) break;
      if (!take(',')) return refuse("after object key:value pair");
    }
    return made;
  }

  void member(Value object, const std::string& key, const PathFrame* path, int depth) {
    const PathFrame frame{.parent = path, .key = key};
    const Value below = value(&frame, depth);
    if (report_ && report_->duplicates.size() < kMaxReportedDuplicates && object.has(key))
      report_->duplicates.push_back(path_text(&frame));
    object.set(key, below);
  }

  Value array(const PathFrame* path, int depth) {
    if (depth > kMaxDepth) return fault("exceeded max depth");
    ++at_;
    const Value made = Value::array(arena_);
    skip_space();
    if (take(']')) return made;
    for (PathFrame frame{.parent = path, .is_item = true}; !failed(); ++frame.index) {
      made.push_back(value(&frame, depth));
      skip_space();
      if (failed() || take(']')) break;
      if (!take(',')) return refuse("after array element");
    }
    return made;
  }

  Value literal(std::string_view word, Value meaning) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (!take(word[i]))
        return refuse(i == 0 ? "looking for beginning of value"
                             : fmt::format("in literal {} (expecting '{}')", word, word[i]));
    }
    return meaning;
  }

  std::string string() {
    std::string out;
    ++at_;
    while (!failed()) {
      const std::string_view rest = text_.substr(at_);
      const std::size_t length = utf8_sequence_length(rest);
      if (take('"')) break;
      if (take('\\')) {
        escape(out);
      } else if (!more() || static_cast<unsigned char>(peek()) < 0x20) {
        refuse("in string literal");
      } else if (length == 0) {
        fault("invalid UTF-8 in string literal");
      } else {
        out += rest.substr(0, length);
        at_ += length;
      }
    }
    return out;
  }

  void escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) {
      unicode_escape(out);
    } else if (const std::size_t i = kLetters.find(peek()); more() && i != kLetters.npos) {
      out += kMeanings[i];
      ++at_;
    } else {
      refuse("in string escape code");
    }
  }

  std::uint32_t hex4() {
    std::uint32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
      std::uint32_t digit = 0;
      const char* const from = text_.data() + at_;
      if (!more() || std::from_chars(from, from + 1, digit, 16).ec != std::errc()) {
        refuse("in \\u hexadecimal character escape");
        return 0;
      }
      unit = unit * 16 + digit;
      ++at_;
    }
    return unit;
  }

  // A surrogate without its partner becomes U+FFFD.
  void unicode_escape(std::string& out) {
    constexpr std::uint32_t kReplacement = 0xFFFD;
    const std::uint32_t first = hex4();
    if (first < 0xD800 || first > 0xDFFF) return append_utf8(out, first);
    if (first < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const std::size_t before = at_;
      at_ += 2;
      const std::uint32_t second = hex4();
      if (second >= 0xDC00 && second <= 0xDFFF)
        return append_utf8(out, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
      if (!failed()) at_ = before;  // an escape of its own
    }
    append_utf8(out, kReplacement);
  }

  bool digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > start;
  }

  Value number() {
    const std::size_t start = at_;
    const bool negative = take('-');
    bool integral = true;
    if (!take('0') && !digits())
      return refuse(negative ? "in numeric literal" : "looking for beginning of value");
    if (take('.')) {
      integral = false;
      if (!digits()) return refuse("after decimal point in numeric literal");
    }
    if (take('e') || take('E')) {
      integral = false;
      if (!take('+')) take('-');
      if (!digits()) return refuse("in exponent of numeric literal");
    }
    return number_of(text_.substr(start, at_ - start), integral);
  }

  Value number_of(std::string_view text, bool integral) {
    const char* const end = text.data() + text.size();
    std::int64_t small = 0;
    std::uint64_t large = 0;
    if (integral && std::from_chars(text.data(), end, small).ec == std::errc())
      return Value::of(small);
    if (integral && std::from_chars(text.data(), end, large).ec == std::errc())
      return Value::of(large);
    // strtod, because std::from_chars does not tell too large from too small.
    const double real = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isfinite(real)) return Value::of(real);
    if (out_of_range_.empty()) out_of_range_ = text;
    return Value();
  }

  Arena& arena_;
  std::string_view text_;
  ParseReport* report_;
  std::size_t at_ = 0;
  std::string error_;
  std::string out_of_range_;  // a number; a fault of syntax further on takes precedence
};

}  // namespace

Result<Value> parse_like_go(Arena& arena, std::string_view text, ParseReport* report) {
  if (report) report->duplicates.clear();
  return Reader(arena, text, report).document();
}

}  // namespace muster::json
