// resource.Quantity (spec: apimachinery 6.2): exact decimal or binary amounts with a suffix.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::api {

class Quantity {
 public:
  Quantity() = default;  // 0
  static Result<Quantity> parse(std::string_view text);
  static Quantity of(std::int64_t value);
  static Quantity of_milli(std::int64_t milli);

  std::string text() const;         // canonical; text that was canonical already comes back as typed
  std::int64_t value() const;       // rounded up, capped at the int64 limits
  std::int64_t milli_value() const; // rounded up, capped
  bool is_negative() const { return nano_ < 0; }
  bool is_zero() const { return nano_ == 0; }
  Quantity rounded_up_to_milli() const;

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  std::strong_ordering operator<=>(const Quantity& other) const { return nano_ <=> other.nano_; }
  bool operator==(const Quantity& other) const { return nano_ == other.nano_; }

 private:
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };
  __extension__ using Nano = __int128;  // exact for every value that the API accepts
  Nano nano_ = 0;
  Format format_ = Format::kDecimalSi;
  std::string typed_;               // as typed, if that is canonical
};

}  // namespace muster::api
