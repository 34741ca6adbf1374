#include "server/channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/websocket.h"
#include "json/parse.h"
#include "json/write.h"

namespace muster::server {
namespace {

enum Channel : char { kInput = 0, kOutput = 1, kErrorOutput = 2, kStatus = 3, kSize = 4 };
constexpr char kClose = static_cast<char>(255);  // followed by the channel that ends; since v5

constexpr std::string_view kNewest = "v5.channel.k8s.io";
constexpr std::array<std::string_view, 2> kProtocols{kNewest, "v4.channel.k8s.io"};

constexpr std::size_t kMaxMessageBytes = 4u << 20;
// More than this does not wait for a slow client; its program waits.
constexpr std::size_t kMaxUnsentBytes = 1u << 20;
// More than this does not wait for a slow program; its client waits.
constexpr std::size_t kMaxUntakenBytes = 256u << 10;
constexpr std::int64_t kMaxTerminalSize = 10'000;

}  // namespace

std::string_view choose_channel_protocol(const http::Request& request) {
  const auto offered = http::offered_protocols(request);
  for (const std::string_view protocol : kProtocols)
    if (std::ranges::find(offered, protocol) != offered.end()) return protocol;
  return {};
}

std::string exit_status(const std::vector<std::string>& command, const Result<int>& exit_code) {
  json::Arena arena;
  const json::Value status = json::Value::object(arena);
  status.object_at("metadata");
  if (exit_code && *exit_code == 0) {
    status.set("status", "Success");
    return json::write(status);
  }
  status.set("status", "Failure");
  const json::Value cause = json::Value::object(arena);
  if (exit_code) {
    status.set("message", fmt::format("command terminated with non-zero exit code: error executing "
                                      "command [{}], exit code {}",
                                      fmt::join(command, " "), *exit_code));
    status.set("reason", "NonZeroExitCode");
    cause.set("reason", "ExitCode");
    cause.set("message", std::to_string(*exit_code));
  } else {
    const std::string why =
        fmt::format("error executing command in container: {}", exit_code.error().message);
    status.set("message", "Internal error occurred: " + why);
    status.set("reason", "InternalError");
    cause.set("message", why);
  }
  status.object_at("details").array_at("causes").push_back(cause);
  if (!exit_code) status.set("code", json::Value::of(500));
  return json::write(status);
}

ChannelSession::ChannelSession(CallPtr call, ProgramSource::Wanted wanted,
                               std::string_view protocol)
    : call_(std::move(call)),
      exchange_(call_->exchange),
      wanted_(std::move(wanted)),
      protocol_(protocol),
      has_close_messages_(protocol == kNewest) {}

void ChannelSession::refuse(Error why) { std::exchange(call_, nullptr)->answer_error(why); }

void ChannelSession::begin(std::shared_ptr<Program> program) {
  std::exchange(call_, nullptr)->hand_over();
  const auto self = shared_from_this();
  exchange_->on_close([self] { self->program_.reset(); });
  // If the client has gone meanwhile this is dropped, and the program with it.
  exchange_->post(
      [self, program = std::move(program)]() mutable { self->program_ = std::move(program); });
  exchange_->upgrade({.protocol = protocol_,
                      .max_message_bytes = kMaxMessageBytes,
                      .message = [self](std::string_view message) { self->take(message); }});
}

void ChannelSession::send(char channel, std::string_view bytes) {
  std::string message(1, channel);
  message += bytes;
  exchange_->send(Call::chunks(std::move(message)));
}

void ChannelSession::output(bool is_error, std::string_view bytes) {
  const bool to_error = is_error && !wanted_.tty;  // a terminal has one output
  if (bytes.empty() || !(to_error ? wanted_.error_output : wanted_.output)) return;
  send(to_error ? kErrorOutput : kOutput, bytes);
  if (exchange_->unsent_bytes() <= kMaxUnsentBytes || behind_.exchange(true)) return;
  exchange_->post([self = shared_from_this()] { self->let_catch_up(); });
}

void ChannelSession::let_catch_up() {
  if (!program_) return;
  program_->hold_output(true);
  exchange_->when_sent([self = shared_from_this()] {
    self->behind_ = false;
    if (self->program_) self->program_->hold_output(false);
  });
}

void ChannelSession::end(Result<int> exit_code) {
  send(kStatus, exit_status(wanted_.command, exit_code));
  exchange_->finish();
}

void ChannelSession::take(std::string_view message) {
  if (!program_ || message.empty()) return;
  const std::string_view payload = message.substr(1);
  switch (message.front()) {
    case kInput:
      return take_input(payload);
    case kSize:
      return take_size(payload);
    case kClose:
      if (!has_close_messages_ || payload.size() != 1 || payload.front() != kInput) return;
      if (!std::exchange(input_ended_, true) && wanted_.input) program_->end_input();
      return;
    default:
      return;  // nothing that a client has to say
  }
}

void ChannelSession::take_input(std::string_view bytes) {
  if (!wanted_.input || input_ended_ || bytes.empty()) return;
  untaken_input_ += bytes.size();
  if (untaken_input_ > kMaxUntakenBytes) exchange_->hold_messages(true);
  program_->input(std::string(bytes));
}

void ChannelSession::input_taken(std::size_t bytes) {
  exchange_->post([self = shared_from_this(), bytes] {
    const bool was_held = self->untaken_input_ > kMaxUntakenBytes;
    self->untaken_input_ -= std::min(bytes, self->untaken_input_);
    if (was_held && self->untaken_input_ <= kMaxUntakenBytes) self->exchange_->hold_messages(false);
  });
}

void ChannelSession::take_size(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> size = json::parse(arena, text);
  if (!size || !size->is_object()) return;
  const std::int64_t columns = size->get("Width").as_int();
  const std::int64_t rows = size->get("Height").as_int();
  if (columns < 1 || rows < 1 || std::max(columns, rows) > kMaxTerminalSize) return;
  program_->resize(static_cast<int>(columns), static_cast<int>(rows));
}

}  // namespace muster::server
