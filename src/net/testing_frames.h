// For tests: frames of a WebSocket client, right and wrong.
#pragma once

#include <string>
#include <string_view>

#include "net/websocket.h"

namespace muster::net {

struct FrameForm {
  bool final = true;
  bool masked = true;
  bool reserved = false;
};

inline std::string frame(Opcode opcode, std::string_view payload, FrameForm form = {}) {
  constexpr std::string_view kMask = "\x11\x22\x33\x44";
  std::string bytes = frame_head(opcode, payload.size());
  if (!form.final) bytes[0] = static_cast<char>(bytes[0] & 0x7F);
  if (form.reserved) bytes[0] = static_cast<char>(bytes[0] | 0x40);
  if (!form.masked) return bytes.append(payload);
  bytes[1] = static_cast<char>(bytes[1] | 0x80);
  bytes += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i)
    bytes += static_cast<char>(payload[i] ^ kMask[i % 4]);
  return bytes;
}

inline std::string websocket_request(std::string_view path, std::string_view protocols = "") {
  std::string text = "GET " + std::string(path) +
                     " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                     "Sec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  if (!protocols.empty()) text.append("Sec-WebSocket-Protocol: ").append(protocols).append("\r\n");
  return text + "\r\n";
}

}  // namespace muster::net
