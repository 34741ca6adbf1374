// One answer as bytes: which framing it gets, by method and HTTP version, or as messages of a
// WebSocket. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/http.h"
#include "net/output_queue.h"
#include "net/websocket.h"

namespace muster::net {

class Answer {
 public:
  struct Terms {
    bool to_head = false;      // the request was a HEAD: headers only
    bool to_http_1_0 = false;  // does not understand chunks
    bool close = false;        // the connection ends with this answer
    std::string_view date;     // need not live longer than the call
  };

  // Each appends what is to be sent. What comes after the end of the answer is ignored.
  void respond(http::Response response, const Terms& terms, OutputQueue& out);
  void start_stream(http::Response head, const Terms& terms, OutputQueue& out);
  void send(std::vector<http::Chunk> chunks, OutputQueue& out);
  void finish(OutputQueue& out);

  // Instead of a stream: each send() is a message then, finish() the normal end.
  struct Handshake {
    std::string_view key;       // of the request
    std::string_view protocol;  // the chosen one; may be empty
  };
  void start_messages(const Handshake& handshake, const Terms& terms, OutputQueue& out);
  void close_messages(CloseCode code, OutputQueue& out);

  bool has_begun() const { return state_ != State::kNotBegun; }
  bool is_complete() const { return state_ == State::kComplete; }

 private:
  enum class State { kNotBegun, kStreaming, kComplete };
  State state_ = State::kNotBegun;
  bool no_body_ = false;
  bool chunked_ = false;
  bool messages_ = false;
};

}  // namespace muster::net
