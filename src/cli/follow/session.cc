#include "cli/follow/session.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/terminal_text.h"
#include "cli/input/connection.h"
#include "cli/input/kinds.h"

namespace muster::cli {

Session::Session(client::Client& client, EndingPlan plan, bool progress)
    : client_(client),
      loop_(client.loop()),
      state_(std::move(plan)),
      screen_(loop_, {.progress = progress}) {
  screen_.on_failure([this](int error_number) {
    tell(ending::OutputFailed{.reader_has_gone = error_number == EPIPE,
                              .why = std::strerror(error_number)});
  });
}

Session::~Session() { loop_.cancel(finish_limit_); }

void Session::follow(FollowOptions options) {
  ns_ = options.ns;
  options.logs.colours = screen_.colours();
  tell(ending::Followed{options.job_set});
  follow_.emplace(client_, screen_, options, [this](int code) {
    tell_changes();
    tell(ending::Over{code});
  });
  follow_->on_change([this] { tell_changes(); });
  follow_->start();
}

void Session::lost_server(const Error& why) { tell(ending::ServerLost{plain_text(why.message)}); }

void Session::tell(const ending::Event& what) {
  for (const ending::Effect& effect : reduce(state_, what, monotonic_now()))
    std::visit([this](const auto& one) { act(one); }, effect);
}

void Session::act(const ending::Delete&) {
  follow_->expect_deletion();
  client_.write({.verb = client::Verb::kDelete,
                 .resource = &job_sets(),
                 .ns = ns_,
                 .name = state_.plan.job_set,
                 .body = R"({"propagationPolicy":"Background"})"},
                [this](const Result<std::string>& answer) {
                  if (answer || answer.error().code == Code::kNotFound)
                    return tell(ending::Deleted{});
                  complain(answer.error());
                  tell(ending::DeletionRefused{});
                });
}

void Session::act(const ending::Kill&) {
  const auto pods_left = follow_ ? follow_->live_pods() : std::vector<std::string>();
  if (pods_left.empty()) return tell(ending::Killed{});
  const auto missing = std::make_shared<std::size_t>(pods_left.size());
  for (const std::string& pod : pods_left) {
    client_.write({.verb = client::Verb::kDelete,
                   .resource = &pods(),
                   .ns = ns_,
                   .name = pod,
                   .body = R"({"gracePeriodSeconds":0})"},
                  [this, missing](const Result<std::string>&) {
                    if (--*missing == 0) tell(ending::Killed{});
                  });
  }
}

void Session::act(const ending::Finish&) {
  screen_.finish([this] { loop_.stop(); });
}

void Session::act(const ending::LimitFinish& limit) {
  finish_limit_ = loop_.after(limit.limit, [this, limit, left = screen_.unwritten()] {
    if (limit.while_stuck && screen_.unwritten() < left) return act(limit);
    loop_.stop();
  });
}

}  // namespace muster::cli
