// Writes the protobuf wire format, the counterpart of wire_reader.h. Knows no messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/decode/wire_reader.h"

namespace muster::api {

class WireWriter {
 public:
  void varint_field(int number, std::uint64_t value) {
    tag(number, WireType::kVarint);
    varint(value);
  }
  void double_field(int number, double value) {
    tag(number, WireType::kFixed64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) out_ += static_cast<char>(bits >> shift & 0xFF);
  }
  // Text, bytes, or a message that another writer wrote.
  void bytes_field(int number, std::string_view bytes) {
    tag(number, WireType::kBytes);
    varint(bytes.size());
    out_ += bytes;
  }
  const std::string& text() const { return out_; }

 private:
  void tag(int number, WireType type) {
    varint(static_cast<std::uint64_t>(number) << 3 | static_cast<std::uint64_t>(type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

}  // namespace muster::api
