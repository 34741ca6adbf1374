// The protocol by which kubectl talks to programs in pods: WebSocket messages whose first byte
// names a channel (spec: pod-lifecycle 7). Internal to server/.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "server/call.h"
#include "server/program_source.h"

namespace muster::server {

// The best of the subprotocols that a client offers; empty if it knows none of ours.
std::string_view choose_channel_protocol(const http::Request& request);

// What a client is told at the end: the Status of a command's exit code, or of why it has none.
std::string exit_status(const std::vector<std::string>& command, const Result<int>& exit_code);

// One client on one program. The exchange becomes a WebSocket when the program has begun.
class ChannelSession final : public ProgramClient,
                             public std::enable_shared_from_this<ChannelSession> {
 public:
  ChannelSession(CallPtr call, ProgramSource::Wanted wanted, std::string_view protocol);

  void refuse(Error why) override;
  void begin(std::shared_ptr<Program> program) override;
  void output(bool is_error, std::string_view bytes) override;
  void input_taken(std::size_t bytes) override;
  void end(Result<int> exit_code) override;

 private:
  // On the exchange's own thread.
  void take(std::string_view message);
  void take_input(std::string_view bytes);
  void take_size(std::string_view text);
  void let_catch_up();

  void send(char channel, std::string_view bytes);

  CallPtr call_;  // until the program begins or is refused
  const std::shared_ptr<http::Exchange> exchange_;
  const ProgramSource::Wanted wanted_;
  const std::string protocol_;
  const bool has_close_messages_;
  std::atomic<bool> behind_ = false;  // output is held

  // The exchange's own thread's.
  std::shared_ptr<Program> program_;
  std::size_t untaken_input_ = 0;
  bool input_ended_ = false;
};

}  // namespace muster::server
