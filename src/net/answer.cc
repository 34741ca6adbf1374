#include "net/answer.h"

#include "base/result.h"
#include "net/http_text.h"

namespace muster::net {
namespace {

std::size_t size_of(const std::vector<http::Chunk>& chunks) {
  std::size_t size = 0;
  for (const http::Chunk& chunk : chunks) size += chunk.text.size();
  return size;
}

void push_all(std::vector<http::Chunk> chunks, OutputQueue& out) {
  for (http::Chunk& chunk : chunks) out.push(std::move(chunk));
}

bool has_no_body(int status) { return status / 100 == 1 || status == 204 || status == 304; }

}  // namespace

void Answer::respond(http::Response response, const Terms& terms, OutputQueue& out) {
  if (is_complete()) return;
  MUSTER_ASSERT(!has_begun(), "a stream ends with finish(), not with another answer");
  state_ = State::kComplete;
  const bool bodiless = has_no_body(response.status);
  out.push(http::Chunk::own(
      response_head(response, {
                                  .framing = bodiless ? Framing::kNone : Framing::kLength,
                                  .length = size_of(response.body),
                                  .close = terms.close,
                                  .date = terms.date,
                              })));
  if (!bodiless && !terms.to_head) push_all(std::move(response.body), out);
}

void Answer::start_stream(http::Response head, const Terms& terms, OutputQueue& out) {
  if (is_complete()) return;
  MUSTER_ASSERT(!has_begun(), "an answer begins once");
  state_ = State::kStreaming;
  no_body_ = terms.to_head;
  chunked_ = !terms.to_http_1_0;
  out.push(http::Chunk::own(
      response_head(head, {.framing = chunked_ ? Framing::kChunked : Framing::kToEnd,
                           .close = terms.close,
                           .date = terms.date})));
  send(std::move(head.body), out);
}

void Answer::send(std::vector<http::Chunk> chunks, OutputQueue& out) {
  if (is_complete()) return;
  MUSTER_ASSERT(has_begun(), "a stream begins with its head");
  const std::size_t size = size_of(chunks);
  if (messages_) {
    out.push(http::Chunk::own(frame_head(Opcode::kBinary, size)));
    return push_all(std::move(chunks), out);
  }
  if (no_body_ || size == 0) return;  // an empty chunk would end the stream
  if (chunked_) out.push(http::Chunk::own(chunk_head(size)));
  push_all(std::move(chunks), out);
  if (chunked_) out.push(http::Chunk::literal(kChunkTail));
}

void Answer::finish(OutputQueue& out) {
  if (messages_) return close_messages(CloseCode::kNormal, out);
  if (is_complete()) return;
  MUSTER_ASSERT(has_begun(), "a stream begins with its head");
  state_ = State::kComplete;
  if (chunked_ && !no_body_) out.push(http::Chunk::literal(kLastChunk));
}

void Answer::start_messages(const Handshake& handshake, const Terms& terms, OutputQueue& out) {
  if (is_complete()) return;
  MUSTER_ASSERT(!has_begun(), "an answer begins once");
  state_ = State::kStreaming;
  messages_ = true;
  http::Response head{.status = 101, .headers = {}, .body = {}};
  head.headers = {{"Upgrade", "websocket"},
                  {"Connection", "Upgrade"},
                  {"Sec-WebSocket-Accept", websocket_accept(handshake.key)}};
  if (!handshake.protocol.empty())
    head.headers.emplace_back("Sec-WebSocket-Protocol", handshake.protocol);
  out.push(http::Chunk::own(response_head(head, {.framing = Framing::kNone, .date = terms.date})));
}

void Answer::close_messages(CloseCode code, OutputQueue& out) {
  if (is_complete()) return;
  MUSTER_ASSERT(messages_, "only messages have codes to end with");
  state_ = State::kComplete;
  out.push(http::Chunk::own(close_frame(code)));
}

}  // namespace muster::net
