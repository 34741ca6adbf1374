#include "cli/input/reconnecting_transport.h"

#include <fmt/format.h>

#include "base/terminal_text.h"

namespace muster::cli {
namespace {

constexpr Duration kKnockEvery = std::chrono::milliseconds(200);
// A restart that nobody would notice is not worth a line.
constexpr Duration kUnnoticed = std::chrono::seconds(2);
constexpr std::size_t kMaxFormer = 8;

bool may_be_repeated(const http::Request& request) { return request.method != "POST"; }

http::Request knock_request() {
  return {.method = "GET", .target = "/livez", .headers = {}, .body = {}, .peer = {}};
}

}  // namespace

// Shared by who holds the Stream and the attempts to open it.
struct ReconnectingTransport::OpenStream {
  http::Request request;
  StreamEvents events;
  std::unique_ptr<Stream> inner;
  bool has_begun = false;
  bool is_open = true;
};

class ReconnectingTransport::ReconnectingStream final : public Stream {
 public:
  explicit ReconnectingStream(std::shared_ptr<OpenStream> state) : state_(std::move(state)) {}
  ~ReconnectingStream() override {
    state_->is_open = false;
    state_->inner = nullptr;
  }

 private:
  std::shared_ptr<OpenStream> state_;
};

Result<std::unique_ptr<ReconnectingTransport>> ReconnectingTransport::open(Loop& loop,
                                                                           Options options) {
  std::unique_ptr<ReconnectingTransport> out(new ReconnectingTransport(loop, std::move(options)));
  MUSTER_CHECK(out->look_up());
  return out;
}

ReconnectingTransport::~ReconnectingTransport() { loop_.cancel(timer_); }

Status ReconnectingTransport::look_up() {
  MUSTER_TRY(client::ServerConfig server, options_.find());
  if (inner_ && server == server_) return {};
  MUSTER_TRY(auto next, options_.connect(server));
  if (inner_) former_.push_back(std::move(inner_));
  if (former_.size() > kMaxFormer) former_.pop_front();
  inner_ = std::move(next);
  server_ = std::move(server);
  return {};
}

void ReconnectingTransport::send(http::Request request, Done done) {
  try_send(std::make_shared<http::Request>(std::move(request)),
           std::make_shared<Done>(std::move(done)));
}

void ReconnectingTransport::try_send(std::shared_ptr<http::Request> request,
                                     std::shared_ptr<Done> done) {
  http::Request copy = *request;
  inner_->send(std::move(copy),
               lifetime_.guard([this, request = std::move(request),
                                done = std::move(done)](Result<client::Answer> answer) {
                 if (answer) has_answered_ = true;
                 if (answer || !is_absence(answer.error()) || !may_be_repeated(*request))
                   return (*done)(std::move(answer));
                 hold({.again = [this, request, done] { try_send(request, done); },
                       .give_up = [done](const Error& why) { (*done)(std::unexpected(why)); }},
                      answer.error());
               }));
}

std::unique_ptr<client::Transport::Stream> ReconnectingTransport::stream(http::Request request,
                                                                         StreamEvents events) {
  auto state = std::make_shared<OpenStream>(std::move(request), std::move(events));
  try_stream(state);
  return std::make_unique<ReconnectingStream>(std::move(state));
}

void ReconnectingTransport::try_stream(const std::shared_ptr<OpenStream>& stream) {
  if (!stream->is_open) return;
  // The inner stream goes with `stream`, and its callbacks with it.
  OpenStream* const state = stream.get();
  const auto again = [this, weak = std::weak_ptr(stream)] {
    if (const auto still = weak.lock()) try_stream(still);
  };
  const auto give_up = [weak = std::weak_ptr(stream)](const Error& why) {
    const auto still = weak.lock();
    if (still && still->is_open && still->events.end) still->events.end(std::unexpected(why));
  };
  stream->inner =
      inner_->stream(stream->request, {.head =
                                           [this, state](int status) {
                                             state->has_begun = has_answered_ = true;
                                             if (state->events.head) state->events.head(status);
                                           },
                                       .data =
                                           [state](std::string_view data) {
                                             if (state->events.data) state->events.data(data);
                                           },
                                       .end =
                                           [this, state, again, give_up](Status why) {
                                             const bool hold_it = !why && !state->has_begun &&
                                                                  is_absence(why.error());
                                             if (hold_it)
                                               return hold({again, give_up}, why.error());
                                             if (state->events.end)
                                               state->events.end(std::move(why));
                                           }});
}

bool ReconnectingTransport::is_absence(const Error& error) const {
  return has_answered_ && !given_up_ &&
         (error.code == Code::kUnavailable || error.code == Code::kTimeout);
}

void ReconnectingTransport::hold(Held held, const Error& why) {
  if (held_.size() >= kMaxHeld) return held.give_up(why);
  held_.push_back(std::move(held));
  if (absent_since_) return;
  absent_since_ = loop_.clock().now();
  knock_soon();
}

void ReconnectingTransport::knock_soon() {
  timer_ = loop_.after(kKnockEvery, [this] { knock(); });
}

void ReconnectingTransport::knock() {
  // A file that is being written, or a server that has not written it yet: the old place will do.
  static_cast<void>(look_up());
  inner_->send(knock_request(),
               lifetime_.guard([this](const Result<client::Answer>& answer) { knocked(answer); }));
}

void ReconnectingTransport::knocked(const Result<client::Answer>& answer) {
  if (answer && answer->status < 500) return come_back();
  const Error why = answer ? Error{.code = Code::kUnavailable,
                                   .message = fmt::format("it answers {}", answer->status)}
                           : answer.error();
  const Duration absent = loop_.clock().now() - *absent_since_;
  if (absent >= options_.patience) return lose(why);
  if (note_ && absent >= kUnnoticed && !std::exchange(absence_told_, true)) {
    note_(fmt::format("the server at {} does not answer; waiting up to {} for it", server_.url,
                      human_duration(options_.patience)));
  }
  knock_soon();
}

void ReconnectingTransport::come_back() {
  absent_since_.reset();
  if (std::exchange(absence_told_, false)) note_("the server is back");
  for (Held& held : std::exchange(held_, {})) held.again();
}

void ReconnectingTransport::lose(const Error& why) {
  given_up_ = Error{.code = Code::kUnavailable,
                    .message = fmt::format(
                        "the server at {} cannot be reached any more, for {} now: {}", server_.url,
                        human_duration(options_.patience), plain_text(why.message))};
  absent_since_.reset();
  if (lost_) lost_(*given_up_);
  for (Held& held : std::exchange(held_, {})) held.give_up(*given_up_);
}

}  // namespace muster::cli
