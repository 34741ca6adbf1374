#include "agent/probes/hpack.h"

#include <array>
#include <cstdint>

namespace muster::agent {
namespace {

constexpr std::size_t kMaxInteger = 1 << 20;  // longer than any block that is read here
constexpr std::size_t kStaticEntries = 61;

// RFC 7541, appendix B. The code is canonical: among codes of one length those of smaller symbols
// come first, and shorter codes come before longer ones. So the lengths say it all. The last
// symbol marks the end of a text and never occurs in one.
constexpr std::size_t kSymbols = 257;
constexpr std::size_t kLongestCode = 30;
constexpr std::array<std::uint8_t, kSymbols> kCodeLengths = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,
    7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,
    7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30};

struct Codes {
  std::array<std::uint16_t, kLongestCode + 1> count{};  // of each length
  std::array<std::uint16_t, kSymbols> symbols{};        // by length, then by symbol
};

constexpr Codes make_codes() {
  Codes codes;
  for (const std::uint8_t length : kCodeLengths) ++codes.count[length];
  std::array<std::uint16_t, kLongestCode + 2> next{};
  for (std::size_t length = 1; length <= kLongestCode; ++length) {
    next[length + 1] = static_cast<std::uint16_t>(next[length] + codes.count[length]);
  }
  for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
    codes.symbols[next[kCodeLengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
  }
  return codes;
}
constexpr Codes kCodes = make_codes();

auto malformed() { return fail(Code::kInternal, "malformed header block"); }

void append_integer(std::string& out, std::uint8_t flags, int prefix_bits, std::size_t value) {
  const std::size_t full = (std::size_t{1} << prefix_bits) - 1;
  if (value < full) {
    out += static_cast<char>(flags | value);
    return;
  }
  out += static_cast<char>(flags | full);
  for (value -= full; value >= 128; value /= 128) out += static_cast<char>(value % 128 | 128);
  out += static_cast<char>(value);
}

Result<std::size_t> read_integer(std::string_view& in, int prefix_bits) {
  if (in.empty()) return malformed();
  const std::size_t full = (std::size_t{1} << prefix_bits) - 1;
  std::size_t value = static_cast<std::uint8_t>(in[0]) & full;
  in.remove_prefix(1);
  if (value < full) return value;
  for (int shift = 0; value <= kMaxInteger && !in.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in[0]);
    in.remove_prefix(1);
    value += std::size_t{byte & 127U} << shift;
    if (byte < 128) return value;
  }
  return malformed();
}

Result<std::string> read_text(std::string_view& in) {
  if (in.empty()) return malformed();
  const bool compressed = (in[0] & 0x80) != 0;
  MUSTER_TRY(const std::size_t length, read_integer(in, 7));
  if (length > in.size()) return malformed();
  const std::string_view bytes = in.substr(0, length);
  in.remove_prefix(length);
  if (compressed) return huffman_text(bytes);
  return std::string(bytes);
}

// RFC 7541, appendix A: 8 to 14 are :status with these values.
std::string static_name(std::size_t index) { return index >= 8 && index <= 14 ? ":status" : ""; }
std::string static_value(std::size_t index) {
  constexpr std::array<std::string_view, 7> kStatus = {"200", "204", "206", "304",
                                                       "400", "404", "500"};
  return index >= 8 && index <= 14 ? std::string(kStatus[index - 8]) : "";
}

Result<HeaderField> read_literal(std::string_view& in, int prefix_bits) {
  MUSTER_TRY(const std::size_t index, read_integer(in, prefix_bits));
  if (index > kStaticEntries) return malformed();
  HeaderField field;
  if (index == 0) {
    MUSTER_TRY(field.name, read_text(in));
  } else {
    field.name = static_name(index);
  }
  MUSTER_TRY(field.value, read_text(in));
  return field;
}

}  // namespace

void append_header(std::string& block, std::string_view name, std::string_view value) {
  block += '\0';  // a literal that is not to be indexed, with its name
  append_integer(block, 0, 7, name.size());
  block += name;
  append_integer(block, 0, 7, value.size());
  block += value;
}

Result<std::vector<HeaderField>> read_headers(std::string_view block) {
  std::vector<HeaderField> fields;
  while (!block.empty()) {
    const auto first = static_cast<std::uint8_t>(block[0]);
    if ((first & 0x80) != 0) {  // indexed
      MUSTER_TRY(const std::size_t index, read_integer(block, 7));
      if (index == 0 || index > kStaticEntries) return malformed();
      fields.push_back({static_name(index), static_value(index)});
    } else if ((first & 0x40) != 0) {  // literal, to be indexed: in a table of size zero
      MUSTER_TRY(HeaderField field, read_literal(block, 6));
      fields.push_back(std::move(field));
    } else if ((first & 0x20) != 0) {  // a new size of the table
      MUSTER_CHECK(read_integer(block, 5));
    } else {
      MUSTER_TRY(HeaderField field, read_literal(block, 4));
      fields.push_back(std::move(field));
    }
  }
  return fields;
}

Result<std::string> huffman_text(std::string_view bytes) {
  std::string out;
  std::uint32_t code = 0;   // the bits since the last symbol
  std::uint32_t first = 0;  // the smallest code of that many bits
  std::size_t index = 0;    // of the symbol of that code
  std::size_t length = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    code = code << 1 | (static_cast<std::uint8_t>(bytes[bit / 8]) >> (7 - bit % 8) & 1U);
    if (++length > kLongestCode) return malformed();
    first <<= 1;
    const std::uint32_t count = kCodes.count[length];
    if (code - first < count) {
      const std::uint16_t symbol = kCodes.symbols[index + (code - first)];
      if (symbol == kSymbols - 1) return malformed();
      out += static_cast<char>(symbol);
      code = first = 0;
      index = length = 0;
    } else {
      index += count;
      first += count;
    }
  }
  // What is left is the beginning of the end mark: ones, and fewer than a byte.
  if (length > 7 || code != (std::uint32_t{1} << length) - 1) return malformed();
  return out;
}

}  // namespace muster::agent
