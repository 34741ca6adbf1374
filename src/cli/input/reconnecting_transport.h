// A transport that gets over the restart of its server, for verbs that follow something.
//
// When a server that has answered before cannot be reached any more, what is asked of it is held
// and asked again when it is back; before each attempt the server is looked up again, because it
// may be elsewhere. A stream that is cut ends, as ever: who reads it knows where to go on, and
// opens it again through here. A server that does not come back in time is told once.
//
// Only what may be asked twice is asked twice: everything but POST.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "client/kubeconfig.h"
#include "client/transport.h"

namespace muster::cli {

// The flag --patience of such verbs.
inline constexpr std::string_view kUsualPatience = "30s";
inline constexpr std::string_view kPatienceHelp = "How long a server that goes is waited for [30s]";

class ReconnectingTransport final : public client::Transport {
 public:
  struct Options {
    Duration patience;
    // Where the server is now; and how to reach it. Both are called again and again.
    std::function<Result<client::ServerConfig>()> find;
    std::function<Result<std::unique_ptr<client::Transport>>(client::ServerConfig)> connect;
  };
  static Result<std::unique_ptr<ReconnectingTransport>> open(Loop& loop, Options options);
  ~ReconnectingTransport() override;

  // `note` is a line for people: that it is waited for, that it is back. `lost` is called once,
  // when patience has ended; everything fails from then on.
  void on_absence(std::function<void(std::string_view)> note,
                  std::function<void(const Error&)> lost) {
    note_ = std::move(note);
    lost_ = std::move(lost);
  }

  void send(http::Request request, Done done) override;
  std::unique_ptr<Stream> stream(http::Request request, StreamEvents events) override;
  Loop& loop() override { return loop_; }

  static constexpr std::size_t kMaxHeld = 10'000;

 private:
  struct Held {  // until the server is back
    Task again;
    std::move_only_function<void(const Error&)> give_up;
  };
  struct OpenStream;
  class ReconnectingStream;

  ReconnectingTransport(Loop& loop, Options options) : loop_(loop), options_(std::move(options)) {}
  Status look_up();
  void try_send(std::shared_ptr<http::Request> request, std::shared_ptr<Done> done);
  void try_stream(const std::shared_ptr<OpenStream>& stream);
  bool is_absence(const Error& error) const;
  void hold(Held held, const Error& why);
  void knock_soon();
  void knock();
  void knocked(const Result<client::Answer>& answer);
  void come_back();
  void lose(const Error& why);

  Loop& loop_;
  const Options options_;
  std::function<void(std::string_view)> note_;
  std::function<void(const Error&)> lost_;
  client::ServerConfig server_;
  std::unique_ptr<client::Transport> inner_;
  // Of places where the server was: what is under way there still has to end.
  std::deque<std::unique_ptr<client::Transport>> former_;
  bool has_answered_ = false;
  std::optional<Time> absent_since_;
  bool absence_told_ = false;
  std::optional<Error> given_up_;
  std::vector<Held> held_;
  TimerId timer_ = TimerId::kNone;
  Lifetime lifetime_;
};

}  // namespace muster::cli
