#include "agent/logs/log_sinks.h"

#include "agent/logs/log_line.h"

namespace muster::agent {
namespace {

// More than this is not handed to a connection ahead of its client.
constexpr std::size_t kMaxUnsentBytes = 256 * 1024;

}  // namespace

bool ExchangeSink::has_room(Task ready) {
  if (exchange_->unsent_bytes() <= kMaxUnsentBytes) return true;
  exchange_->when_sent(std::move(ready));
  return false;
}

bool ExchangeSink::take(std::string_view lines) {
  std::string text = view_.show(lines);
  if (!text.empty()) {
    std::vector<http::Chunk> chunks;
    chunks.push_back(http::Chunk::own(std::move(text)));
    exchange_->send(std::move(chunks));
  }
  return !view_.is_full();
}

// Runs of lines of one stream go out as one piece.
bool AttachSink::take(std::string_view lines) {
  std::string text;
  bool is_error = false;
  const auto flush = [&] {
    if (!text.empty()) client_->output(is_error, text);
    text.clear();
  };
  for_each_log_line(lines, [&](const LogLine& line) {
    if (line.is_error != is_error) flush();
    is_error = line.is_error;
    text.append(line.content);
    if (!line.is_piece) text += '\n';
    return true;
  });
  flush();
  return true;
}

}  // namespace muster::agent
