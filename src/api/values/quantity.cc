#include "api/values/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "json/write.h"

namespace muster::api {
namespace {

__extension__ using Nano = __int128;
using Format = Quantity::Format;

constexpr Nano kNano = 1'000'000'000;
constexpr Nano kNanoPerMilli = 1'000'000;
constexpr int kNanoDigits = 9;
// 10^37 nano: sums of a few such amounts still fit into 128 bits.
constexpr int kMaxDigits = 37;
constexpr int kMaxExponent = 1000;
constexpr std::int64_t kMaxBinary = std::numeric_limits<std::int64_t>::max();
// numeric_limits knows 128 bits only with the compiler's extensions on.
constexpr Nano kMost = ((Nano{1} << 126) - 1) * 2 + 1;

struct Parts {
  bool negative = false;
  std::string_view whole;  // without leading zeros, may be empty
  std::string_view fraction;
  std::string_view suffix;
  bool has_digit = false;

  std::string digits() const { return std::string(whole) + std::string(fraction); }
};

struct Suffix {
  Format format = Format::kDecimalSi;
  int exponent = 0;  // of 10, or of 2 in the binary family
};

struct NamedSuffix {
  std::string_view text;
  Suffix meaning;
};

constexpr std::array<NamedSuffix, 16> kSuffixes{{
    {"n", {Format::kDecimalSi, -9}},
    {"u", {Format::kDecimalSi, -6}},
    {"m", {Format::kDecimalSi, -3}},
    {"", {Format::kDecimalSi, 0}},
    {"k", {Format::kDecimalSi, 3}},
    {"M", {Format::kDecimalSi, 6}},
    {"G", {Format::kDecimalSi, 9}},
    {"T", {Format::kDecimalSi, 12}},
    {"P", {Format::kDecimalSi, 15}},
    {"E", {Format::kDecimalSi, 18}},
    {"Ki", {Format::kBinarySi, 10}},
    {"Mi", {Format::kBinarySi, 20}},
    {"Gi", {Format::kBinarySi, 30}},
    {"Ti", {Format::kBinarySi, 40}},
    {"Pi", {Format::kBinarySi, 50}},
    {"Ei", {Format::kBinarySi, 60}},
}};

// Cuts the longest prefix of characters that satisfy `is_part`.
std::string_view take_while(std::string_view& text, bool (*is_part)(char)) {
  const auto end = std::ranges::find_if_not(text, is_part);
  const auto part = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(part.size());
  return part;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  parts.negative = take_sign(text);
  parts.whole = take_while(text, is_digit);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = take_while(text, is_digit);
  }
  parts.has_digit = !parts.whole.empty() || !parts.fraction.empty();
  parts.whole.remove_prefix(std::min(parts.whole.find_first_not_of('0'), parts.whole.size()));
  parts.suffix = text;
  take_while(text, [](char c) {
    return std::string_view("eEinumkKMGTP").find(c) != std::string_view::npos;
  });
  take_sign(text);
  take_while(text, is_digit);
  if (!text.empty()) return std::nullopt;
  return parts;
}

std::optional<Suffix> interpret(std::string_view text) {
  const auto* known = std::ranges::find(kSuffixes, text, &NamedSuffix::text);
  if (known != kSuffixes.end()) return known->meaning;
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  const bool sound = error == std::errc() && end == text.data() + text.size();
  if (!sound || exponent > kMaxExponent || exponent < -kMaxExponent) return std::nullopt;
  return Suffix{Format::kDecimalExponent, exponent};
}

// digits * 10^shift, rounded up; nothing if that is too large.
std::optional<Nano> scaled(std::string_view digits, int shift) {
  bool round_up = false;
  if (shift < 0) {
    const auto cut = std::min(digits.size(), static_cast<std::size_t>(-shift));
    round_up = digits.substr(digits.size() - cut).find_first_not_of('0') != std::string_view::npos;
    digits.remove_suffix(cut);
    shift = 0;
  }
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return round_up ? 1 : 0;
  if (static_cast<int>(digits.size()) + shift > kMaxDigits) return std::nullopt;
  Nano amount = 0;
  for (const char digit : digits) amount = amount * 10 + (digit - '0');
  for (; shift > 0; --shift) amount *= 10;
  return amount + (round_up ? 1 : 0);
}

// (whole.fraction) * 2^exponent in nano, rounded up and capped.
Nano binary_nano(std::string_view whole, std::string_view fraction, int exponent) {
  const Nano unit = Nano{1} << exponent;
  Nano amount = 0;
  for (const char digit : whole) amount = std::min<Nano>(amount * 10 + (digit - '0'), kMaxBinary);
  amount = std::min<Nano>(amount * unit, kMaxBinary) * kNano;
  // 0.d1d2d3 * unit from the last digit on; what the divisions drop only matters for rounding up.
  Nano below = 0;
  bool round_up = false;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    below += (*digit - '0') * unit * kNano;
    round_up |= below % 10 != 0;
    below /= 10;
  }
  return std::min<Nano>(amount + below + (round_up ? 1 : 0), Nano{kMaxBinary} * kNano);
}

// Whether upstream writes the text back as it is. Its rule is a little wider than "canonical": it
// lets signs, leading zeros and decimal points pass.
bool is_kept(const Parts& parts, Suffix suffix) {
  if (parts.whole.empty()) return false;
  const std::string digits = parts.digits();
  const int length = static_cast<int>(digits.size());
  if (suffix.format == Format::kBinarySi) {
    const auto tail = digits.substr(digits.size() - std::min<std::size_t>(digits.size(), 3));
    int low = 0;  // 1000 is a multiple of 8
    std::from_chars(tail.data(), tail.data() + tail.size(), low);
    return parts.fraction.empty() && length + suffix.exponent * 3 / 10 < 15 && low % 8 != 0;
  }
  const int scale = suffix.exponent - static_cast<int>(parts.fraction.size());
  return length <= 18 && scale >= -kNanoDigits && scale % 3 == 0 && !digits.ends_with("000");
}

std::string decimal_text(Nano nano, Format format) {
  const auto largest = format == Format::kDecimalSi ? 18 : std::numeric_limits<int>::max();
  int exponent = -kNanoDigits;
  for (; nano % 10 == 0; nano /= 10) ++exponent;
  for (; exponent % 3 != 0 || exponent > largest; nano *= 10) --exponent;
  if (format == Format::kDecimalExponent) {
    return exponent == 0 ? fmt::format("{}", nano) : fmt::format("{}e{}", nano, exponent);
  }
  const auto* suffix = std::ranges::find_if(kSuffixes, [&](const NamedSuffix& s) {
    return s.meaning.format == format && s.meaning.exponent == exponent;
  });
  return fmt::format("{}{}", nano, suffix->text);
}

std::string binary_text(Nano value) {
  int exponent = 0;
  for (; value % 1024 == 0; value /= 1024) exponent += 10;
  if (exponent == 0) return fmt::format("{}", value);
  const auto* suffix = std::ranges::find_if(kSuffixes, [&](const NamedSuffix& s) {
    return s.meaning.format == Format::kBinarySi && s.meaning.exponent == exponent;
  });
  return fmt::format("{}{}", value, suffix->text);
}

Nano rounded_away(Nano nano, Nano unit) {
  const Nano quotient = nano / unit;
  if (nano % unit == 0) return quotient;
  return nano < 0 ? quotient - 1 : quotient + 1;
}

std::int64_t capped(Nano amount) {
  using Limits = std::numeric_limits<std::int64_t>;
  return static_cast<std::int64_t>(std::clamp<Nano>(amount, Limits::min(), Limits::max()));
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  text = trimmed(text);
  const auto parts = split(text);
  if (!parts || text.empty()) {
    return fail(Code::kBadRequest,
                "quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  const auto suffix = interpret(parts->suffix);
  if (!suffix) return fail(Code::kBadRequest, "unable to parse quantity's suffix");

  Quantity quantity;
  quantity.format_ = suffix->format;
  std::optional<Nano> nano;
  if (!parts->has_digit) {
    // An amount of nothing is a slip of the pen, not zero.
  } else if (suffix->format == Format::kBinarySi) {
    nano = binary_nano(parts->whole, parts->fraction, suffix->exponent);
    if (*nano > 0 && *nano < kNano) quantity.format_ = Format::kDecimalSi;
  } else {
    const int shift = suffix->exponent - static_cast<int>(parts->fraction.size()) + kNanoDigits;
    nano = scaled(parts->digits(), shift);
  }
  if (!nano) return fail(Code::kBadRequest, "unable to parse numeric part of quantity");
  quantity.nano_ = parts->negative ? -*nano : *nano;
  if (is_kept(*parts, *suffix)) quantity.typed_ = text;
  return quantity;
}

Result<Quantity> Quantity::read(json::Value value) {
  return value.is_string() ? parse(value.as_string()) : parse(json::write(value));
}

Quantity Quantity::of(std::int64_t value) {
  Quantity quantity;
  quantity.nano_ = value * kNano;
  return quantity;
}

Quantity Quantity::of_milli(std::int64_t milli) {
  Quantity quantity;
  quantity.nano_ = milli * kNanoPerMilli;
  return quantity;
}

std::string Quantity::text() const {
  if (!typed_.empty()) return typed_;
  if (nano_ == 0) return "0";
  if (format_ != Format::kBinarySi) return decimal_text(nano_, format_);
  const bool small = nano_ > -1024 * kNano && nano_ < 1024 * kNano;
  if (small || nano_ % kNano != 0) return decimal_text(nano_, Format::kDecimalSi);
  return binary_text(nano_ / kNano);
}

std::int64_t Quantity::value() const { return capped(rounded_away(nano_, kNano)); }
std::int64_t Quantity::milli_value() const { return capped(rounded_away(nano_, kNanoPerMilli)); }

Quantity Quantity::rounded_up_to_milli() const {
  Quantity rounded(*this);
  rounded.nano_ = rounded_away(nano_, kNanoPerMilli) * kNanoPerMilli;
  if (rounded.nano_ != nano_) rounded.typed_.clear();
  return rounded;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  const bool up = other.nano_ > 0;
  if (__builtin_add_overflow(nano_, other.nano_, &nano_)) {
    nano_ = up ? kMost : -kMost;
  }
  typed_.clear();
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  Quantity negated(other);
  negated.nano_ = -other.nano_;
  return *this += negated;
}

}  // namespace muster::api
