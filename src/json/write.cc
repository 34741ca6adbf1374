#include "json/write.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/result.h"
#include "base/utf8.h"

namespace muster::json {
namespace {

// Appends to a string through a pointer: the string is grown in large steps and cut at the end.
class Sink {
 public:
  explicit Sink(std::string& out) : out_(out), at_(out.data() + out.size()), end_(at_) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() { out_.resize(static_cast<std::size_t>(at_ - out_.data())); }

  // Room for `size` bytes, to be written and then claimed by advance_to().
  char* reserve(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) grow(size);
    return at_;
  }
  void advance_to(char* at) { at_ = at; }

  void put(char c) {
    *reserve(1) = c;
    ++at_;
  }
  void put(std::string_view text) {
    char* const to = reserve(text.size());
    std::memcpy(to, text.data(), text.size());
    at_ = to + text.size();
  }

 private:
  void grow(std::size_t size) {
    constexpr std::size_t kFirst = 1024;
    const auto used = static_cast<std::size_t>(at_ - out_.data());
    const std::size_t wanted = std::max({used + size, used * 2, kFirst});
    out_.resize_and_overwrite(wanted, [](char*, std::size_t n) { return n; });
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  char* at_;
  char* end_;
};

// Bytes that cannot be copied as they are: controls, quotes, Go's HTML characters, and everything
// that is not ASCII, because it might be U+2028 or no UTF-8 at all.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> special{};
  for (std::size_t c = 0; c < 256; ++c) special[c] = c < 0x20 || c >= 0x80;
  for (const char c : {'"', '\\', '<', '>', '&'}) special[static_cast<unsigned char>(c)] = true;
  return special;
}();

constexpr char kHex[] = "0123456789abcdef";
constexpr std::size_t kLongestEscape = 6;

char* escape_ascii(char* to, char c) {
  const auto with = [&](char letter) {
    *to++ = '\\';
    *to++ = letter;
    return to;
  };
  switch (c) {
    case '"':
    case '\\':
      return with(c);
    case '\b':
      return with('b');
    case '\f':
      return with('f');
    case '\n':
      return with('n');
    case '\r':
      return with('r');
    case '\t':
      return with('t');
    default:
      break;
  }
  std::memcpy(to, "\\u00", 4);
  to[4] = kHex[static_cast<unsigned char>(c) >> 4];
  to[5] = kHex[c & 0xF];
  return to + kLongestEscape;
}

// Whether one of eight bytes is special, by arithmetic on all of them at once.
bool has_special(std::uint64_t bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  const auto below = [](std::uint64_t word, std::uint64_t limit) {
    return (word - limit * kEach) & ~word & kHigh;
  };
  const auto any_is = [&](std::uint64_t word, std::uint64_t c) {
    return below(word ^ c * kEach, 1);
  };
  // '<' and '>' differ in one bit, as do '"' and '&'.
  return ((bytes & kHigh) | below(bytes, 0x20) | any_is(bytes | 0x02 * kEach, '>') |
          any_is(bytes | 0x04 * kEach, '&') | any_is(bytes, '\\')) != 0;
}

// Writes the special character that `rest` begins with and returns how many bytes of it that was.
std::size_t write_special(Sink& sink, std::string_view rest) {
  char* const to = sink.reserve(kLongestEscape);
  if (static_cast<unsigned char>(rest[0]) < 0x80) {
    sink.advance_to(escape_ascii(to, rest[0]));
    return 1;
  }
  const std::size_t length = utf8_sequence_length(rest);
  if (length == 0) {
    sink.put("\\ufffd");
    return 1;
  }
  const std::string_view sequence = rest.substr(0, length);
  if (sequence == "\u2028") {
    sink.put("\\u2028");
  } else if (sequence == "\u2029") {
    sink.put("\\u2029");
  } else {
    sink.put(sequence);
  }
  return length;
}

// Quotes and escapes; `after` follows the closing quote.
void write_text(Sink& sink, std::string_view text, std::string_view after = {}) {
  char* to = sink.reserve(text.size() + 2 + after.size());
  *to++ = '"';
  while (true) {
    // Copies plain bytes while looking for a special one.
    const char* from = text.data();
    const char* const end = from + text.size();
    for (std::uint64_t word = 0; end - from >= 8; from += 8, to += 8) {
      std::memcpy(&word, from, sizeof word);
      if (has_special(word)) break;
      std::memcpy(to, &word, sizeof word);
    }
    while (from != end && !kSpecial[static_cast<unsigned char>(*from)]) *to++ = *from++;
    if (from == end) break;
    sink.advance_to(to);
    text.remove_prefix(static_cast<std::size_t>(from - text.data()));
    text.remove_prefix(write_special(sink, text));
    to = sink.reserve(text.size() + 1 + after.size());
  }
  *to++ = '"';
  for (const char c : after) *to++ = c;
  sink.advance_to(to);
}

// The shortest digits that read back as the same number, laid out as Go does: plain from 1e-6 to
// below 1e21, else with an exponent ("1e-7", "1e+21").
void write_real(Sink& sink, double value) {
  constexpr std::size_t kRoom = 32;
  MUSTER_ASSERT(std::isfinite(value), "JSON knows no infinity and no NaN");
  char text[kRoom];
  const char* const end =
      std::to_chars(text, text + kRoom, value, std::chars_format::scientific).ptr;
  const char* const e = std::find(static_cast<const char*>(text), end, 'e');
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, exponent);
  if (value != 0 && (exponent < -6 || exponent >= 21)) {
    sink.put(std::string_view(text, e));
    sink.put(exponent < 0 ? "e-" : "e+");
    char digits[8];
    const char* const last = std::to_chars(digits, digits + 8, std::abs(exponent)).ptr;
    return sink.put(std::string_view(digits, last));
  }
  std::string digits;
  for (const char* p = text; p != e; ++p)
    if (*p != '-' && *p != '.') digits += *p;
  if (std::signbit(value)) sink.put('-');
  const auto whole = static_cast<std::size_t>(std::max(exponent + 1, 0));
  if (exponent < 0) {
    sink.put("0.");
    sink.put(std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits);
  } else if (digits.size() <= whole) {
    sink.put(digits + std::string(whole - digits.size(), '0'));
  } else {
    sink.put(digits.substr(0, whole) + '.' + digits.substr(whole));
  }
}

template <class Integer>
void write_integer(Sink& sink, Integer value) {
  constexpr std::size_t kRoom = 24;
  char* const to = sink.reserve(kRoom);
  sink.advance_to(std::to_chars(to, to + kRoom, value).ptr);
}

void write_scalar(Sink& sink, Value value) {
  switch (value.kind()) {
    case Kind::kBool:
      return sink.put(value.as_bool() ? "true" : "false");
    case Kind::kInt:
      return write_integer(sink, value.as_int());
    case Kind::kUint:
      return write_integer(sink, value.as_uint());
    case Kind::kDouble:
      return write_real(sink, value.as_double());
    case Kind::kString:
      return write_text(sink, value.as_string());
    default:
      return sink.put("null");
  }
}

void write_compact(Sink& sink, Value value) {
  char separator = '\0';
  const auto separate = [&] {
    if (separator != '\0') sink.put(separator);
    separator = ',';
  };
  if (value.is_object()) {
    sink.put('{');
    for (const Member& member : value.members()) {
      separate();
      write_text(sink, member.key, ":");
      write_compact(sink, member.value);
    }
    sink.put('}');
  } else if (value.is_array()) {
    sink.put('[');
    for (const Value item : value.items()) {
      separate();
      write_compact(sink, item);
    }
    sink.put(']');
  } else {
    write_scalar(sink, value);
  }
}

class PrettyWriter {
 public:
  PrettyWriter(Sink& sink, int indent) : sink_(sink), indent_(indent) {}

  void write(Value value, int level) {
    if (value.empty()) {
      if (value.is_object()) return sink_.put("{}");
      if (value.is_array()) return sink_.put("[]");
      return write_scalar(sink_, value);
    }
    bool first = true;
    const auto next = [&] {
      if (!first) sink_.put(',');
      first = false;
      new_line(level + 1);
    };
    sink_.put(value.is_object() ? '{' : '[');
    for (const Member& member : value.members()) {
      next();
      write_text(sink_, member.key, ": ");
      write(member.value, level + 1);
    }
    for (const Value item : value.items()) {
      next();
      write(item, level + 1);
    }
    new_line(level);
    sink_.put(value.is_object() ? '}' : ']');
  }

 private:
  void new_line(int level) {
    sink_.put('\n');
    sink_.put(std::string(static_cast<std::size_t>(level * indent_), ' '));
  }

  Sink& sink_;
  int indent_;
};

}  // namespace

void write(std::string& out, Value value) {
  Sink sink(out);
  write_compact(sink, value);
}

std::string write(Value value) {
  std::string out;
  write(out, value);
  return out;
}

std::string write_pretty(Value value, int indent) {
  std::string out;
  {
    Sink sink(out);
    PrettyWriter(sink, indent).write(value, 0);
  }
  return out;
}

void write_string(std::string& out, std::string_view text) {
  Sink sink(out);
  write_text(sink, text);
}

void write_double(std::string& out, double value) {
  Sink sink(out);
  write_real(sink, value);
}

}  // namespace muster::json
