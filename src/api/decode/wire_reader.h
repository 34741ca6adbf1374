// Reads the protobuf wire format: tags, varints, lengths. Knows no messages. Never reads past its
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::api {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// One field as it stands on the wire: `bytes` of a kBytes field, `value` of the others.
struct WireField {
  int number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;
  std::string_view bytes;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  // Nothing if the bytes are malformed or cut short: there is no way to go on then.
  std::optional<WireField> next();

 private:
  std::optional<std::uint64_t> varint();
  std::optional<std::uint64_t> fixed(std::size_t size);

  std::string_view rest_;
};

}  // namespace muster::api
