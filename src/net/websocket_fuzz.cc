// Feeds bytes of a peer to the reader of frames, in steps of any size: whatever they are, what it
// holds is bounded, and the steps do not matter.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/websocket.h"

namespace muster::net {
namespace {

constexpr std::size_t kMaxMessageBytes = 1000;

// All that was read, as text.
std::string read_all(std::string_view bytes, std::size_t step) {
  FrameReader reader(kMaxMessageBytes);
  std::string seen;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    for (;;) {
      const auto event = reader.next(piece);
      if (!event) return seen + "!" + std::to_string(static_cast<int>(event.error()));
      if (!*event) break;
      MUSTER_ASSERT((*event)->payload.size() <= kMaxMessageBytes, "messages are bounded");
      seen += std::to_string(static_cast<int>((*event)->opcode));
      seen += (*event)->payload;
    }
    MUSTER_ASSERT(piece.empty(), "what is not an event yet is taken in");
  }
  return seen;
}

}  // namespace
}  // namespace muster::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0] % 64;
  MUSTER_ASSERT(muster::net::read_all(bytes, step) == muster::net::read_all(bytes, size),
                "the steps do not matter");
  return 0;
}
