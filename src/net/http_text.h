// The text of HTTP messages that we send.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/time.h"

namespace muster::net {

std::string_view status_phrase(int status);  // "Not Found"; empty if unknown
std::string http_date(Time time);            // Sun, 15 Nov 2026 09:58:37 GMT

enum class Framing {
  kNone,     // no body and nothing said about one: 1xx, 204, 304
  kLength,   // Content-Length
  kChunked,  // Transfer-Encoding: chunked
  kToEnd,    // until the connection closes (streams to HTTP/1.0)
};

struct HeadOptions {
  Framing framing = Framing::kLength;
  std::size_t length = 0;
  bool close = false;     // says Connection: close
  std::string_view date;  // as by http_date
};

// Status line, headers and the empty line. Control characters in header values become blanks, so
// that no value can begin a header or a message of its own.
std::string response_head(const http::Response& response, const HeadOptions& options);

// The framing of one chunk: its size line, and what stands behind it.
std::string chunk_head(std::size_t size);
inline constexpr std::string_view kChunkTail = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Whether this can be a header of a request of ours: a token and a value without line ends.
bool is_sendable(const http::Header& header);

}  // namespace muster::net
