// resource.Quantity (spec: apimachinery 6.2): exact decimal or binary amounts with a suffix.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::json {
class Value;
}

namespace muster::api {

class Quantity {
 public:
  // The family of suffixes, remembered from the text and used to print.
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity() = default;  // 0
  // Blanks around it are cut. Fails with kBadRequest on malformed text, and (unlike upstream) on
  // text without a digit and on amounts of 10^28 and more.
  static Result<Quantity> parse(std::string_view text);
  // Of an object's field: a text, or a number as it is written.
  static Result<Quantity> read(json::Value value);
  static Quantity of(std::int64_t value);
  static Quantity of_milli(std::int64_t milli);

  std::string text() const;    // canonical; text that was canonical already comes back as typed
  std::int64_t value() const;  // rounded away from zero, capped at the int64 limits
  std::int64_t milli_value() const;  // likewise
  bool is_negative() const { return nano_ < 0; }
  bool is_zero() const { return nano_ == 0; }
  Quantity rounded_up_to_milli() const;  // away from zero

  // Sums stop at the limits of what can be held. Zero takes over the other's family.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  std::strong_ordering operator<=>(const Quantity& other) const { return nano_ <=> other.nano_; }
  bool operator==(const Quantity& other) const { return nano_ == other.nano_; }

 private:
  __extension__ using Nano = __int128;  // exact for every value that is accepted
  Nano nano_ = 0;
  Format format_ = Format::kDecimalSi;
  std::string typed_;  // as typed, if that is canonical
};

}  // namespace muster::api
