#include "base/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::http {
namespace websocket_test {

using testing::ElementsAre;
using testing::IsEmpty;

Request opening() {
  return {.method = "GET",
          .target = "/",
          .headers = {{"connection", "keep-alive, Upgrade"},
                      {"Upgrade", "WebSocket"},
                      {"Sec-WebSocket-Version", "13"},
                      {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}},
          .body = {},
          .peer = {}};
}

void replace(Request& request, std::string_view name, std::string value) {
  for (Header& header : request.headers)
    if (header.first == name) header.second = value;
}

TEST(WebSocketRequest, IsRecognisedByItsHeaders) {
  EXPECT_TRUE(wants_websocket(opening()));
  EXPECT_TRUE(check_websocket_request(opening()).has_value());
  Request spdy = opening();
  replace(spdy, "Upgrade", "SPDY/3.1");
  EXPECT_TRUE(wants_upgrade(spdy));
  EXPECT_FALSE(wants_websocket(spdy));
  Request plain = opening();
  replace(plain, "connection", "keep-alive");
  EXPECT_FALSE(wants_upgrade(plain));
}

TEST(WebSocketRequest, EveryFaultHasItsText) {
  const auto fault = [](const char* header, const char* value) {
    Request request = opening();
    if (std::string_view(header) == "method") request.method = value;
    replace(request, header, value);
    const Status status = check_websocket_request(request);
    return status ? "none" : status.error().message;
  };
  EXPECT_EQ(fault("method", "POST"), "a WebSocket is opened by a GET");
  EXPECT_EQ(fault("Upgrade", "h2c"), "Upgrade request required");
  EXPECT_EQ(fault("Sec-WebSocket-Version", "8"), "Sec-WebSocket-Version has to be 13");
  for (const char* key : {"", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25j!Q=="})
    EXPECT_EQ(fault("Sec-WebSocket-Key", key), "Sec-WebSocket-Key has to be 16 bytes in base64");
}

TEST(WebSocketRequest, OffersProtocolsInOneHeaderOrSeveral) {
  Request request = opening();
  EXPECT_THAT(offered_protocols(request), IsEmpty());
  request.headers.emplace_back("Sec-WebSocket-Protocol", "v5.channel.k8s.io, v4.channel.k8s.io,");
  request.headers.emplace_back("Sec-Websocket-Protocol", " , channel.k8s.io");
  EXPECT_THAT(offered_protocols(request),
              ElementsAre("v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"));
}

}  // namespace websocket_test
}  // namespace muster::http
