#include "api/decode/wire_reader.h"

namespace muster::api {
namespace {

constexpr int kMaxVarintBytes = 10;
constexpr std::uint64_t kMaxFieldNumber = (1U << 29) - 1;

}  // namespace

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < kMaxVarintBytes && !rest_.empty(); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << (7 * i);
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size) {
  if (rest_.size() < size) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  }
  rest_.remove_prefix(size);
  return value;
}

std::optional<WireField> WireReader::next() {
  const std::optional<std::uint64_t> tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kMaxFieldNumber) return std::nullopt;
  WireField field{
      .number = static_cast<int>(*tag >> 3), .type = static_cast<WireType>(*tag & 7), .bytes = {}};
  std::optional<std::uint64_t> value;
  switch (field.type) {
    case WireType::kVarint:
      value = varint();
      break;
    case WireType::kFixed64:
      value = fixed(8);
      break;
    case WireType::kFixed32:
      value = fixed(4);
      break;
    case WireType::kBytes:
      value = varint();
      if (!value || *value > rest_.size()) return std::nullopt;
      field.bytes = rest_.substr(0, *value);
      rest_.remove_prefix(*value);
      return field;
    default:
      return std::nullopt;  // groups are not used by any API type
  }
  if (!value) return std::nullopt;
  field.value = *value;
  return field;
}

}  // namespace muster::api
