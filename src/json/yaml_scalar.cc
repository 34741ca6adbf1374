#include "json/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/ascii.h"

namespace muster::json {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&words)[N]) {
  return std::ranges::find(words, text) != std::end(words);
}

constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kTrues[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                       "True", "TRUE", "on",  "On",  "ON"};
constexpr std::string_view kFalses[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                        "False", "FALSE", "off", "Off", "OFF"};
constexpr std::string_view kUnrepresentable[] = {".nan",  ".NaN",  ".NAN",  ".inf",
                                                 ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                 "+.INF", "-.inf", "-.Inf", "-.INF"};

// Takes the base off the text: 0x, 0o, 0b, or a plain 0 for octal.
int take_base(std::string_view& text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  const char letter = text[1];
  text.remove_prefix(1);
  if (is_digit(letter)) return 8;
  text.remove_prefix(1);
  switch (letter) {
    case 'x':
    case 'X':
      return 16;
    case 'o':
    case 'O':
      return 8;
    case 'b':
    case 'B':
      return 2;
    default:
      text = {};
      return 10;  // "0." and the like: no integer
  }
}

std::optional<Value> resolve_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const int base = take_base(text);
  std::uint64_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, size, base);
  if (text.empty() || error != std::errc() || last != end) return std::nullopt;
  if (!negative) return Value::of(size);
  if (size > std::uint64_t{1} << 63) return std::nullopt;
  return Value::of(static_cast<std::int64_t>(0 - size));
}

// Reads a scalar from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // All digits that come next; how many they were.
  std::size_t digits() {
    const auto count =
        static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_digit) - rest_.begin());
    rest_.remove_prefix(count);
    return count;
  }
  bool one_or_two_digits() {
    const std::size_t count = digits();
    return count == 1 || count == 2;
  }
  // The next character, if it is in the set.
  bool take(std::string_view set) {
    const bool taken = !rest_.empty() && set.find(rest_[0]) != set.npos;
    if (taken) rest_.remove_prefix(1);
    return taken;
  }
  bool take_blanks() {
    const bool any = take(" \t");
    while (take(" \t")) {
    }
    return any;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// [-+]? ( .digits | digits [. digits?] ) [ eE [-+]? digits ]
bool looks_like_float(std::string_view text) {
  Scanner scan(text);
  scan.take("+-");
  const bool whole = scan.digits() > 0;
  const bool fraction = scan.take(".") && scan.digits() > 0;
  if (!whole && !fraction) return false;
  if (!scan.take("eE")) return scan.at_end();
  scan.take("+-");
  return scan.digits() > 0 && scan.at_end();
}

std::optional<Value> resolve_float(const std::string& text) {
  if (!looks_like_float(text)) return std::nullopt;
  const double value = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;  // too large: stays a string
  return Value::of(value);
}

}  // namespace

std::optional<Value> resolve_plain_scalar(std::string_view text) {
  if (is_one_of(text, kNulls)) return Value();
  if (is_one_of(text, kTrues)) return Value::of(true);
  if (is_one_of(text, kFalses)) return Value::of(false);
  const char first = text[0];
  if (!is_digit(first) && first != '+' && first != '-' && first != '.') return std::nullopt;
  std::string bare(text);
  std::erase(bare, '_');
  if (const auto integer = resolve_integer(bare)) return integer;
  return resolve_float(bare);
}

bool is_unrepresentable_number(std::string_view text) { return is_one_of(text, kUnrepresentable); }

// year-month-day, then perhaps T or blanks, h:m:s, a fraction, and Z or an offset
bool looks_like_timestamp(std::string_view text) {
  Scanner scan(text);
  if (scan.digits() != 4 || !scan.take("-") || !scan.one_or_two_digits()) return false;
  if (!scan.take("-") || !scan.one_or_two_digits()) return false;
  if (scan.at_end()) return true;
  if (!scan.take("Tt") && !scan.take_blanks()) return false;
  if (!scan.one_or_two_digits() || !scan.take(":") || !scan.one_or_two_digits()) return false;
  if (!scan.take(":") || !scan.one_or_two_digits()) return false;
  if (scan.take(".,")) scan.digits();
  scan.take_blanks();
  if (scan.take("Z") || !scan.take("+-")) return scan.at_end();
  return scan.one_or_two_digits() && (!scan.take(":") || scan.one_or_two_digits()) && scan.at_end();
}

// [-+]? digits, then :m as often as one likes, the last with a fraction
bool looks_like_sexagesimal(std::string_view text) {
  Scanner scan(text);
  scan.take("+-");
  if (scan.digits() == 0 || !scan.take(":")) return false;
  do {
    if (!scan.one_or_two_digits()) return false;
  } while (scan.take(":"));
  if (scan.take(".")) scan.digits();
  return scan.at_end();
}

}  // namespace muster::json
