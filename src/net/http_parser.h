// Reading of HTTP/1.1 messages from bytes, without I/O. http_parser.cc alone includes Beast.
//
// The grammar is Beast's. On top of it come limits and the checks that keep a message from being
// read in two ways: one framing only, one length only, no encodings that we do not undo.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/http.h"
#include "base/result.h"
#include "net/refusal.h"

namespace muster::net {

// json/ wants to read past the end of a text; bodies are given this much spare capacity.
inline constexpr std::size_t kBodyPadding = 64;

struct ParseLimits {
  std::size_t header_bytes = 64 * 1024;
  std::size_t body_bytes = 3 * 1024 * 1024;
};

class RequestParser {
 public:
  explicit RequestParser(const ParseLimits& limits);
  ~RequestParser();

  // Uses up a prefix of the bytes and says how long it was. The rest is to be offered again with
  // more behind it, or belongs to the next message if done(). Not to be called after a refusal.
  std::expected<std::size_t, Refusal> feed(std::string_view bytes);

  bool header_done() const;
  bool done() const;

  // All that has been read so far; without peer.
  http::Request& request();
  // Once the header is done:
  bool keep_alive() const;
  bool is_http_1_0() const;
  bool expects_continue() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class ResponseParser {
 public:
  // `to_head`: the request was a HEAD, the answer has no body whatever its headers say.
  ResponseParser(std::size_t header_bytes, bool to_head);
  ~ResponseParser();

  // As above. What belongs to the body goes to the sink as it comes. 1xx answers are skipped.
  using Sink = std::function<void(std::string_view)>;
  Result<std::size_t> feed(std::string_view bytes, const Sink& sink);
  Status feed_end();  // the peer has closed: fails if the message was not complete

  bool header_done() const;
  bool done() const;
  int status() const;
  http::Headers& headers();
  bool keep_alive() const;  // once done

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
